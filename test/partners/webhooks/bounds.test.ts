import { setImmediate } from 'node:timers/promises';
import { boundEndpoints } from '../../../src/partners/webhooks/bound-endpoints.ts';
import type { SentWebhook } from '../../../src/partners/webhooks/send-webhook.ts';

describe('A partner’s slow endpoints', () => {
  it('A partner’s slow endpoints hold at most thirty worker slots, including queued webhooks', async () => {
    const bounds = boundEndpoints();
    const sent: SentWebhook = { status: 200, error: null, retryAfterMs: 0, timedOut: false };
    const answers: (() => void)[] = [];
    const begun: Record<string, number> = {};
    const deferred: Record<string, number> = {};
    const runs: Promise<void>[] = [];
    const send = async (partnerId: string, endpointId: string, count: number) => {
      for (let n = 0; n < count; n += 1) {
        const work = () => {
          begun[endpointId] = (begun[endpointId] ?? 0) + 1;
          return new Promise<SentWebhook>((resolve) => answers.push(() => resolve(sent)));
        };
        const run = bounds.run({ partnerId, endpointId }, work).then((outcome) => {
          if ('waitMs' in outcome) deferred[endpointId] = (deferred[endpointId] ?? 0) + 1;
        });
        runs.push(run);
      }
      await setImmediate();
    };
    await send('slow', 'first', 25);
    await send('slow', 'second', 20);
    await send('slow', 'third', 5);
    await send('other', 'quick', 10);
    expect(begun).toEqual({ first: 10, second: 10, quick: 10 });
    // Ten of the first are queued: with them the partner occupies all its slots.
    expect(deferred).toEqual({ first: 5, second: 10, third: 5 });
    while (answers.length > 0) {
      for (const answer of answers.splice(0)) answer();
      await setImmediate();
    }
    await Promise.all(runs);
    expect(begun).toEqual({ first: 20, second: 10, quick: 10 });
  });
});
