import { attempt } from './build-facts.ts';
import type { Facts } from './facts.ts';

const slow = {
  operation: 'o40',
  kind: 'transfer',
  key: null,
  requestId: 'r40',
  status: null,
  resourceId: null,
} as const;
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
    'a request is not answered although no fault lasts',
    ({ attempts }) => attempts.push(attempt({ ...slow, sentAt: 80_000, endedAt: 110_000 })),
    'was answered nothing after 30000 ms',
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
  [
    'a request that is not answered as a fault lasts',
    ({ attempts }) => attempts.push(attempt({ ...slow, sentAt: 1_000, endedAt: 31_000 })),
  ],
  [
    'a request that is not answered soon after a fault',
    ({ attempts }) => attempts.push(attempt({ ...slow, sentAt: 74_000, endedAt: 104_000 })),
  ],
  [
    'an allocation that takes its minute',
    ({ attempts }) => attempts.push(attempt({ ...slow, kind: 'allocation', sentAt: 80_000, endedAt: 110_000 })),
  ],
];
