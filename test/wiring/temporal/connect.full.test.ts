import { findFreePort } from '../../../dev/ports.ts';
import { openTemporal } from '../../../src/wiring/temporal/connect.ts';

/** Longer than any pause before a retry that the SDK could still be waiting for. */
const afterLastRetryMs = 1500;

describe('Temporal clients', () => {
  it('Closing a Temporal client while the SDK retries calls rejects them, and no later retry throws', async () => {
    const client = openTemporal({ address: `127.0.0.1:${await findFreePort()}`, namespace: 'default' });
    const calls = Array.from({ length: 5 }, () =>
      client.workflowService.getSystemInfo({}).then(
        () => 'answered',
        () => 'away',
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.connection.close();
    expect(await Promise.all(calls)).toEqual(Array(5).fill('away'));
    // A retry on the closed channel would throw from its timer, which fails this file.
    await new Promise((resolve) => setTimeout(resolve, afterLastRetryMs));
  });
});
