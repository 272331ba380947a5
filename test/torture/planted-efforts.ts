import { attempt } from './build-facts.ts';
import type { Facts } from './facts.ts';

interface Waiting {
  /** The piece of work that sent the requests. */
  work: string;
  late: number;
  soon?: number;
  status?: number;
}

/** A number of requests answered after 15 seconds, and a number answered at once. */
function wait({ attempts, ends }: Facts, { work, late, soon = 0, status = 200 }: Waiting): void {
  const asked = { kind: 'stop', key: null, target: 'subscription-9', sentAt: 80_000, work } as const;
  for (let number = 0; number < late + soon; number += 1) {
    const endedAt = asked.sentAt + (number < late ? 15_000 : 100);
    const answered = number < late ? status : 200;
    const resourceId = answered === 200 ? 'subscription-9' : null;
    attempts.push(
      attempt({ ...asked, operation: `o4${number}`, requestId: `r4${number}`, endedAt, status: answered, resourceId }),
    );
  }
  ends.push({ kind: 'subscription', id: 'subscription-9', status: 'stopped' });
}

const many = (count: number, why: string): string[] => Array.from({ length: count }, () => why);

/** Violations by the run itself, by late answers and by logs, planted in a healthy run. */
export const plantedEfforts: [oracle: string, violation: string, plant: (facts: Facts) => void, says: string][] = [
  [
    'plans-are-carried-out',
    'more than a quarter of the faults have no effect',
    ({ effort }) => {
      effort.idle = many(6, 'workflow: none runs');
    },
    '6 of 20 faults had no effect: workflow: none runs',
  ],
  [
    'plans-are-carried-out',
    'more than a twentieth of the work fails',
    ({ effort }) => {
      effort.brokenOff = many(11, 'verdict: away');
    },
    '11 of 200 pieces of work failed: verdict: away',
  ],
  [
    'answers-come-in-time',
    'half of the requests wait long although all faults are over',
    (facts) => wait(facts, { work: 'w90', late: 10, soon: 10 }),
    '10 waited for more than 10000 ms',
  ],
  [
    'answers-come-in-time',
    'half of the requests get no known outcome although all faults are over',
    (facts) => wait(facts, { work: 'w90', late: 10, soon: 10, status: 503 }),
    '10 had no answer',
  ],
  [
    'logs-tell-nothing',
    'a log contains a person’s address',
    ({ leaks }) => leaks.push({ part: 'the log of api1', what: 'the address of a person' }),
    'the log of api1 contains the address of a person',
  ],
];

/** Valid variations, after which the run is still healthy. */
export const rightEfforts: [what: string, make: (facts: Facts) => void][] = [
  [
    'a small run whose faults mostly had no effect',
    ({ effort }) => {
      Object.assign(effort, { faults: 11, idle: many(5, 'workflow: none runs') });
    },
  ],
  [
    'a run in which a twentieth of the work failed',
    ({ effort }) => {
      effort.brokenOff = many(10, 'verdict: away');
    },
  ],
  ['requests that wait long during a fault', (facts) => wait(facts, { work: 'w89', late: 40 })],
  ['some requests that wait longer than others', (facts) => wait(facts, { work: 'w90', late: 9, soon: 11 })],
];
