import { boundedPartner, castSize, inARow } from './cast-size.ts';
import { apiNames, type ServiceName, workerNames } from './parts.ts';
import type { FaultAction } from './plan-faults.ts';
import type { Drawn } from './plan-work.ts';
import type { Random } from './random.ts';

/** Work and faults that coincide, which rarely happens by chance. */
export interface Targeted {
  work: Drawn[];
  faults: ({ at: number } & FaultAction)[];
}

const longPatienceMs = 26_000;
const patient = { keyed: true, patienceMs: longPatienceMs, retries: 3, twin: false, otherBody: false } as const;
/** More than any balance. */
const tooMuch = 900_000_000;
const periodMs = 6_000;
const share = (durationMs: number, part: number): number => Math.round(durationMs * part);

/**
 * The work and faults that every plan of half a minute or more includes: requests that use up a limit, so that their
 * own twins would be refused, with slow connections of the APIs to the database; two crowds that pay from the same
 * accounts at both APIs; the same donations allocated to two causes at once; keys reused after a refusal; subscription
 * periods that become due while workers lose the answers to their commits; workers killed while the provider has their
 * request; commits that never reach the database; decisions whose proposer also tries to approve them; simultaneous
 * payouts above the number and amount that their partner may send; and saving goals released before their orders are
 * paid.
 */
export function planTargeted(random: Random, durationMs: number): Targeted {
  if (durationMs < 30_000) return { work: [], faults: [] };
  return {
    work: [
      ...twins(random),
      ...crowdsAt.flatMap(([part]) => crowds(random, share(durationMs, part))),
      ...[0.3, 0.6, 0.9].flatMap((part) => allocations(share(durationMs, part))),
      ...[0.25, 0.5, 0.75].flatMap((part) => keysAgain(random, share(durationMs, part))),
      ...periods(random, durationMs),
      ...payments(random, share(durationMs, 0.4) - 2_500),
      ...decisions(durationMs),
      ...beyondLimits(share(durationMs, 0.35)),
      ...latePayments(share(durationMs, 0.15)),
    ],
    faults: [
      // Different delays, so that one twin is processed when the other has finished.
      { at: 0, do: 'network', link: 'api1>postgres', trouble: { kind: 'delay', ms: 120 }, forMs: slowMs },
      { at: 0, do: 'network', link: 'api2>postgres', trouble: { kind: 'delay', ms: 240 }, forMs: slowMs },
      { at: share(durationMs, 0.65), do: 'kill-while-sending', forMs: 500 },
      ...workerNames.map((name) => uncommitted(name, { at: share(durationMs, 0.4), forMs: 5_000 })),
      ...apiNames.map((name, index) => uncommitted(name, { at: share(durationMs, 0.55 + index / 4), forMs: 2_000 })),
      ...crowdsAt.map(([part, forMs]) => ({ at: share(durationMs, part) - 300, do: 'hold-balance', forMs }) as const),
      ...[3, 5].flatMap((number) => unheard(number * periodMs)),
    ],
  };
}

const slowMs = 6_000;
/**
 * When crowds meet, as a share of the plan, and for how long one of their accounts is locked, in milliseconds: just
 * short of the half second after which they give up.
 */
const crowdsAt = [
  [0.2, 500],
  [0.45, 600],
  [0.7, 700],
] as const;

/**
 * Requests for more than half of a daily limit or, in a plan of a minute, of a partner's balance: the first of two
 * twins leaves too little for the other.
 */
function twins(random: Random): Drawn[] {
  const manners = { ...patient, api: 0, twin: true } as const;
  const people = inARow(random.int(0, castSize.users - 1), 4);
  return [
    ...people.map((user, index) => {
      return { at: 100 + 300 * index, do: 'withdrawal', user, amount: 140_000, account: '000011', ...manners } as const;
    }),
    ...Array.from({ length: castSize.partners }, (_, partner) => {
      return {
        at: 200 + 300 * partner,
        do: 'payout',
        partner,
        amount: 240_000,
        account: '000011',
        ...manners,
      } as const;
    }),
  ];
}

/** Everyone pays twice at the same instant: at one API in ascending order, at the other in descending order. */
function crowds(random: Random, at: number): Drawn[] {
  const types = ['investment', 'takaful_tabaru_contribution'] as const;
  const people = inARow(random.int(0, castSize.users - 1), castSize.users);
  const one = (user: number, api: 0 | 1): Drawn => {
    return { at, do: 'balance', user, type: types[api], amount: random.int(1, 8) * 500, ...patient, api };
  };
  return [...people.map((user) => one(user, 0)), ...people.toReversed().map((user) => one(user, 1))];
}

/** Allocates the same open donations to all causes. */
const allocations = (at: number): Drawn[] =>
  Array.from({ length: castSize.causes }, (_, cause) => {
    return { at, do: 'allocation', cause, ...patient, api: cause === 0 ? 0 : 1 };
  });

/** First a request for too much, then another one under the same key. */
const keysAgain = (random: Random, at: number): Drawn[] =>
  ([0, 1] as const).map((api) => {
    const user = random.int(0, castSize.users - 1);
    return { at, do: 'balance', user, type: 'investment', amount: tooMuch, ...patient, otherBody: true, api };
  });

function periods(random: Random, durationMs: number): Drawn[] {
  const begun = Array.from({ length: 3 }, (_, index): Drawn => {
    const user = random.int(0, castSize.users - 1);
    const amount = random.int(1, 5) * 1_000;
    return { at: 1_000 + 2_000 * index, do: 'subscription', user, amount, stop: false, ...patient, api: 0 };
  });
  const count = Math.floor((durationMs - 2 * periodMs) / periodMs);
  const due = Array.from({ length: count }, (_, index): Drawn => {
    return { at: (index + 2) * periodMs, do: 'period', ...patient, api: 0 };
  });
  return [...begun, ...due];
}

/** Cuts a process's connection right before its commits. */
const uncommitted = (name: ServiceName, { at, forMs }: { at: number; forMs: number }): Targeted['faults'][number] => {
  return { at, do: 'network', link: `${name}>postgres`, trouble: { kind: 'cut-before', text: 'commit' }, forMs };
};

/** Customers of partners pay while no commit of the workers succeeds. */
const payments = (random: Random, at: number): Drawn[] =>
  Array.from({ length: 6 }, (_, index): Drawn => {
    const [partner, amount] = [index % castSize.partners, random.int(20, 60) * 1_000];
    const pays = { ending: 'pay', afterMs: 300 } as const;
    return { at, do: 'partner-payment', partner, method: 'virtual_account', amount, ...pays, ...patient, api: 0 };
  });

/** As periods become due, workers lose the answers to their commits and retry. */
const unheard = (at: number): Targeted['faults'] =>
  workerNames.map((name) => {
    return {
      at,
      do: 'network',
      link: `${name}>postgres`,
      trouble: { kind: 'cut-after', text: 'commit' },
      forMs: 4_000,
    } as const;
  });

/** Donations refunded by platform users: every second proposer also tries to approve. */
const decisions = (durationMs: number): Drawn[] =>
  Array.from({ length: 8 }, (_, index): Drawn => {
    const at = share(durationMs, (index + 1) / 10);
    const donates = { gives: true, type: 'charitable_cause_donate', amount: 2_000, by: 'people', afterMs: 0 } as const;
    return { at, do: 'take-back', user: index % castSize.users, ...donates, ...patient, api: index % 2 === 0 ? 0 : 1 };
  });

/** Payouts: twice as many as the partner may send in an hour, and at each API one above the limit of a single one. */
const beyondLimits = (at: number): Drawn[] =>
  [20_000, 20_000, 20_000, 20_000, 20_000, 20_000, 60_000, 60_000].map((amount, index): Drawn => {
    const api = (index % 2) as 0 | 1;
    return { at, do: 'payout', partner: boundedPartner, amount, account: '000011', ...patient, api };
  });

/** Orders for saving goals, which are released before the customer pays. */
const latePayments = (at: number): Drawn[] =>
  [castSize.users - 1, castSize.users - 2].flatMap((user): Drawn[] => {
    const paysLate = { type: 'saving_goal_contribution', channel: 1, ending: 'pay', afterMs: 8_000 } as const;
    return [
      { at, do: 'gateway', user, amount: 25_000, ...paysLate, ...patient, api: 0 },
      { at: at + 5_000, do: 'release', user, ...patient, api: 1 },
    ];
  });
