import { attempt } from './build-facts.ts';
import type { Facts } from './facts.ts';

interface Waiting {
  at: number;
  late: number;
  soon?: number;
}

/** So many requests that were answered after 30 seconds, sent at this time, with so many that were answered at once. */
function wait({ attempts, ends }: Facts, { at, late, soon = 0 }: Waiting): void {
  const asked = { kind: 'stop', key: null, target: 'subscription-9', sentAt: at } as const;
  for (let number = 0; number < late + soon; number += 1) {
    const endedAt = at + (number < late ? 30_000 : 100);
    attempts.push(attempt({ ...asked, operation: `o4${number}`, requestId: `r4${number}`, endedAt }));
  }
  ends.push({ kind: 'subscription', id: 'subscription-9', status: 'stopped' });
}

const many = (count: number, why: string): string[] => Array.from({ length: count }, () => why);

/** What may never be true of a run itself, and of when and what it is told, made so in a healthy world. */
export const plantedEfforts: [oracle: string, violation: string, plant: (facts: Facts) => void, says: string][] = [
  [
    'plans-are-carried-out',
    'more than a quarter of the faults find nothing to do',
    ({ effort }) => {
      effort.idle = many(6, 'workflow: none runs');
    },
    '6 of 20 faults found nothing to do: workflow: none runs',
  ],
  [
    'plans-are-carried-out',
    'more than a twentieth of the work breaks off',
    ({ effort }) => {
      effort.brokenOff = many(11, 'verdict: away');
    },
    '11 of 200 pieces of work broke off: verdict: away',
  ],
  [
    'answers-come-in-time',
    'half of the requests wait for long although no fault lasts',
    (facts) => wait(facts, { at: 80_000, late: 40, soon: 10 }),
    '40 waited for more than 25000 ms',
  ],
  [
    'logs-tell-nothing',
    'a log has the address of a person',
    ({ leaks }) => leaks.push({ part: 'api1', what: 'the address of a person' }),
    'the log of api1 tells the address of a person',
  ],
];

/** What may rightly be: each makes a healthy world another healthy world. */
export const rightEfforts: [what: string, make: (facts: Facts) => void][] = [
  [
    'a small run, of whose faults many found nothing to do',
    ({ effort }) => {
      Object.assign(effort, { faults: 11, idle: many(5, 'workflow: none runs') });
    },
  ],
  [
    'a run of which a twentieth broke off',
    ({ effort }) => {
      effort.brokenOff = many(10, 'verdict: away');
    },
  ],
  ['requests that wait for long as a fault lasts', (facts) => wait(facts, { at: 1_000, late: 40 })],
  ['requests that wait for long soon after a fault', (facts) => wait(facts, { at: 74_000, late: 40 })],
  ['some requests that wait for longer than others', (facts) => wait(facts, { at: 80_000, late: 20, soon: 21 })],
];
