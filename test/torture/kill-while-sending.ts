import { setTimeout as sleep } from 'node:timers/promises';
import { workerNames } from './parts.ts';
import type { Topology } from './topology.ts';

interface Hands {
  /** Makes the provider accept requests without answering them for this long. */
  hang(forMs: number): Promise<void>;
  over: AbortSignal;
  /** Waits for the time that the workers stay down. */
  dead(): Promise<unknown>;
  bringBack(): Promise<void>;
}

/** How long the provider does not answer, at most. */
const hangingMs = 6_000;
const betweenLooksMs = 100;

/**
 * Kills both workers while the provider has the request of a transfer; restarted, they find the open attempt.
 */
export async function killWhileSending(topology: Topology, { hang, over, dead, bringBack }: Hands): Promise<void> {
  const hanging = hang(hangingMs);
  for (let left = hangingMs / betweenLooksMs; left > 0 && !over.aborted; left -= 1) {
    if (await isSending(topology)) break;
    await sleep(betweenLooksMs);
  }
  await Promise.all(workerNames.map((name) => topology.kill(name)));
  await dead();
  await bringBack();
  await hanging;
}

/** How long a request takes to reach the hanging provider after its attempt was recorded. */
const underWay = "interval '300 milliseconds'";

/** Whether the provider has an unanswered request for a transfer. */
async function isSending({ em }: Pick<Topology, 'em'>): Promise<boolean> {
  const rows = await em()
    .execute<unknown[]>(
      `select 1 from payout_attempts where outcome is null
         and sent_at between now() - interval '4 seconds' and now() - ${underWay} limit 1`,
    )
    // The database may be down because of another fault.
    .catch(() => []);
  return rows.length > 0;
}
