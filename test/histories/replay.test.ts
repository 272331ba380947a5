import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { testRun } from '../support/run.ts';

const { History } = proto.temporal.api.history.v1;
const directory = join(import.meta.dirname, 'recorded');
const files = readdirSync(directory).filter((name) => name.endsWith('.json.gz'));
const readText = (file: string): string => gunzipSync(readFileSync(join(directory, file))).toString();

describe('Recorded workflow histories', () => {
  it('cover every workflow', async () => {
    const exported = Object.keys(await import('../../workflows/index.ts'));
    const recorded = new Set(files.map((name) => name.split('.')[0]));
    expect(exported.filter((name) => !recorded.has(name))).toEqual([]);
  });

  it('replay on the current workflows', async () => {
    async function* histories() {
      for (const file of files) {
        yield {
          workflowId: file,
          history: History.fromObject(JSON.parse(readText(file))),
        };
      }
    }
    const broken: string[] = [];
    const options = { workflowBundle: { codePath: testRun().workflowBundle } };
    let replayed = 0;
    for await (const { workflowId, error } of Worker.runReplayHistories(options, histories())) {
      replayed += 1;
      if (error) broken.push(`${workflowId}: ${error.message}`);
    }
    expect(broken).toEqual([]);
    expect(replayed).toBe(files.length);
  }, 300_000);

  it('contain no names, addresses or e-mails of people', () => {
    const suspicious = files.filter((file) => {
      const text = readText(file);
      // Payloads are base64 in a recorded history: look inside.
      const payloads = [...text.matchAll(/"data":"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
        Buffer.from(data, 'base64').toString('utf8'),
      );
      return payloads.some((payload) => /@example\.|Person [0-9a-f]{8}/.test(payload));
    });
    expect(suspicious).toEqual([]);
  });
});
