import { doWork } from './do-work.ts';
import type { Drawn, Work } from './plan-work.ts';
import type { Workplace } from './workplace.ts';

const usualRounds = 5;
const everyMs = 250;
const manners = { api: 0, keyed: true, patienceMs: 26_000, retries: 0, twin: false, otherBody: false } as const;
const pays = { ending: 'pay', afterMs: 300 } as const;

/** One of each of the most frequent requests, from different people in each round. */
const oneRound = (round: number): Drawn[] => [
  { at: 0, do: 'balance', user: round, type: 'investment', amount: 500, ...manners },
  { at: 0, do: 'transfer', user: round + usualRounds, amount: 500, ...manners, api: 1 },
  { at: 0, do: 'gateway', user: round, type: 'account_top_up', channel: 1, amount: 10_000, ...pays, ...manners },
  { at: 0, do: 'partner-payment', partner: 0, method: 'qris', amount: 20_000, ...pays, ...manners, api: 1 },
  { at: 0, do: 'payout', partner: 0, amount: 10_000, account: '000011', ...manners },
  { at: 0, do: 'withdrawal', user: round, amount: 10_000, account: '000011', ...manners, api: 1 },
];

/**
 * Does a few more pieces of work, one after another, once all faults are over, to show whether the product has fully
 * recovered. Returns these pieces of work, numbered after those of the plan.
 */
export async function workCalmly(place: Workplace, planned: number, rounds = usualRounds): Promise<Work[]> {
  const drawn = Array.from({ length: rounds }, (_, round) => oneRound(round)).flat();
  const work = drawn.map((item, index): Work => ({ ...item, id: `w${planned + index + 1}` }));
  const done: Promise<void>[] = [];
  for (const item of work) {
    done.push(doWork(place, item));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  await Promise.all(done);
  return work;
}
