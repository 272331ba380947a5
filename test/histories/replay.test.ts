import { testRun } from '../support/run.ts';
import { readHistory, recordedHistories, replayHistories, workflowOf } from './replay-histories.ts';

describe('Recorded workflow histories', () => {
  it('Recorded histories cover every workflow', async () => {
    const exported = Object.keys(await import('../../workflows/index.ts'));
    const recorded = new Set(recordedHistories.map(workflowOf));
    expect(exported.filter((name) => !recorded.has(name))).toEqual([]);
  });

  it('Recorded histories replay on the current workflows', async () => {
    const { replayed, broken } = await replayHistories(testRun().workflowBundle);
    expect(broken).toEqual([]);
    expect(replayed).toBe(recordedHistories.length);
  }, 300_000);

  it('Recorded histories contain no names or e-mail addresses of people', () => {
    const suspicious = recordedHistories.filter((file) => {
      const text = readHistory(file);
      // Payloads are base64 in a recorded history: decode them.
      const payloads = [...text.matchAll(/"data":"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
        Buffer.from(data, 'base64').toString('utf8'),
      );
      return payloads.some((payload) => /@example\.|Person [0-9a-f]{8}/.test(payload));
    });
    expect(suspicious).toEqual([]);
  });
});
