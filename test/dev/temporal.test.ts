import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { planStack, portNames } from '../../dev/plan.ts';
import { findFreePort } from '../../dev/ports.ts';
import type { Secrets } from '../../dev/secrets.ts';
import { readSettings } from '../../dev/settings.ts';
import { startTemporal } from '../../dev/temporal.ts';
import { must } from '../../src/shared/assert.ts';
import { eventually } from '../support/eventually.ts';
import { testRun } from '../support/run.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('Histories of closed workflows', () => {
  it('The Temporal server of npm start retains histories of closed workflows for thirty days', async () => {
    const ports = Object.fromEntries(portNames.map((name, index) => [name, 21_000 + index])) as Parameters<
      typeof planStack
    >[1];
    const { retention } = must(planStack(readSettings({}), ports, {} as Secrets).temporal, 'npm start brings its own');
    const { temporal, directory } = testRun();
    const port = await findFreePort();
    const part = await startTemporal(
      { binary: temporal.binary, port, retention },
      { logFile: join(directory, 'retention.log') },
    );
    const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
    try {
      const { workflowService } = new Client({ connection });
      const days = async () => {
        const { config } = await workflowService.describeNamespace({ namespace: 'default' });
        return Number(config?.workflowExecutionRetentionTtl?.seconds) / 86_400;
      };
      expect(await eventually(days, (kept) => kept !== 1)).toBe(30);
    } finally {
      await connection.close();
      await part.stop();
    }
  }, 60_000);

  it('Namespaces of docker compose and the Kubernetes commands retain histories for thirty days', () => {
    for (const file of ['docker-compose.yml', 'deploy/kubernetes/README.md'])
      expect([file, read(file)]).toEqual([
        file,
        expect.stringMatching(/operator namespace create .*--retention 30d\b/),
      ]);
    expect(read('docs/reference.md')).toMatch(/^- workflow histories: 30 days after their end$/m);
  });
});
