import { z } from 'zod';
import { below, boundedPartner, castSize, inARow, whole } from './cast-size.ts';
import { type Fault, faultStories, inOrder, planFaults } from './plan-faults.ts';
import { batchFields, drawGrouped, instrumentFields } from './plan-grouped.ts';
import { drawMoneyOut, payoutAccounts } from './plan-money-out.ts';
import { drawRefund, refundFields, takeBackFields } from './plan-refunds.ts';
import { planTargeted } from './plan-targeted.ts';
import { planTerms, termsFields } from './plan-terms.ts';
import {
  balanceTypes,
  type Drawn,
  type Ending,
  endings,
  gatewayTypes,
  gatheredTypes,
  type Manners,
  type Operation,
  type Work,
} from './plan-work.ts';
import { createRandom, type Random } from './random.ts';

/** Everything that a run does, determined before it starts, so that it can be recorded, repeated and reduced. */
export interface Plan {
  seed: number;
  /** How long work and faults last. */
  durationMs: number;
  work: Work[];
  faults: Fault[];
}

const channels = [1, 2, 4, 20, 30, 31] as const;
const operations = {
  balance: 22,
  crowd: 2,
  transfer: 8,
  gateway: 22,
  'partner-payment': 16,
  payout: 22,
  circle: 2,
  subscription: 3,
  allocation: 3,
  operator: 3,
} as const;
const moneyOutASecond = 0.5;
const refundsASecond = 0.25;
const groupedASecond = 0.2;
const patience = { '1500': 2, '6000': 3, '26000': 6 } as const;
/** How many operations start per second. */
const operationsASecond = 1.6;
const endingWeights: Record<Ending, number> = {
  pay: 9,
  'pay-twice': 2,
  'pay-wrong-then-right': 1,
  'pay-wrong': 1,
  decline: 2,
  expire: 1,
  'expire-then-pay': 2,
  cancel: 1,
  'cancel-while-paying': 2,
  nothing: 2,
};

/** Draws a plan of a number of minutes. The same seed and minutes give the same plan. */
export function makePlan(seed: number, minutes: number): Plan {
  const random = createRandom(seed);
  const durationMs = Math.round(minutes * 60_000);
  const work = random.fork('work');
  const count = Math.max(1, Math.round((durationMs / 1000) * operationsASecond));
  const items = Array.from({ length: count }, () => drawOperations(work, work.int(0, durationMs))).flat();
  const out = random.fork('money out');
  const outs = Math.round((durationMs / 1000) * moneyOutASecond);
  for (let index = 0; index < outs; index += 1) {
    const at = out.int(0, durationMs);
    for (const operation of drawMoneyOut(out)) items.push({ at, ...drawManners(out), ...operation });
  }
  const back = random.fork('refunds');
  const backs = Math.round((durationMs / 1000) * refundsASecond);
  for (let index = 0; index < backs; index += 1) {
    items.push({ at: back.int(0, durationMs), ...drawManners(back), ...drawRefund(back) });
  }
  const grouped = random.fork('grouped');
  const groups = Math.round((durationMs / 1000) * groupedASecond);
  for (let index = 0; index < groups; index += 1) {
    items.push({ at: grouped.int(0, durationMs / 2), ...drawManners(grouped), ...drawGrouped(grouped) });
  }
  const terms = random.fork('terms');
  const circles = planTerms(terms, { durationMs, channels });
  items.push(...circles.map((circle): Drawn => ({ ...drawManners(terms), ...circle })));
  const targeted = planTargeted(random.fork('targeted'), durationMs);
  items.push(...targeted.work);
  return {
    seed,
    durationMs,
    work: items.toSorted((one, other) => one.at - other.at).map((item, index) => ({ ...item, id: `w${index + 1}` })),
    faults: inOrder([...planFaults(random.fork('faults'), durationMs), ...targeted.faults]),
  };
}

function drawManners(random: Random): Manners {
  return {
    api: random.int(0, 1) as 0 | 1,
    keyed: random.chance(0.85),
    patienceMs: Number(random.weighted(patience)),
    retries: random.int(0, 3),
    twin: random.chance(0.15),
    otherBody: random.chance(0.06),
  };
}

/** Draws one operation, or a simultaneous burst. */
function drawOperations(random: Random, at: number): Drawn[] {
  const kind = random.weighted(operations);
  const one = (operation: Operation): Drawn => ({ at, ...drawManners(random), ...operation });
  const user = random.int(0, castSize.users - 1);
  const partner = random.int(0, castSize.partners - 1);
  const payment = () => ({ ending: random.weighted(endingWeights), afterMs: random.int(50, 6_000) });
  switch (kind) {
    case 'balance': {
      // Sometimes many at once from one account, whose balance covers only some.
      const burst = random.chance(0.1) ? random.int(3, 8) : 1;
      const amount = burst > 1 ? random.int(20, 90) * 1_000 : random.int(1, 40) * 1_000;
      return Array.from({ length: burst }, () => one({ do: kind, user, type: random.pick(balanceTypes), amount }));
    }
    case 'crowd': {
      // Everyone at once, at one API, for one kind of target; some twice, and some beyond their balance.
      const type = random.pick(gatheredTypes);
      const api = random.int(0, 1) as 0 | 1;
      return Array.from({ length: random.int(16, 32) }, (_, index) => {
        const amount = random.chance(0.08) ? 900_000_000 : random.int(1, 8) * 500;
        return { ...one({ do: 'balance', user: (user + index) % castSize.users, type, amount }), api };
      });
    }
    case 'transfer':
      return [one({ do: kind, user, amount: random.int(1, 60) * 500 })];
    case 'gateway': {
      const type = random.pick(gatewayTypes);
      const amount = random.int(10, 90) * 1_000;
      return [one({ do: kind, user, type, channel: random.pick(channels), amount, ...payment() })];
    }
    case 'partner-payment': {
      const method = random.pick(['virtual_account', 'virtual_account', 'qris', 'ewallet']);
      return [one({ do: kind, partner, method, amount: random.int(20, 200) * 1_000, ...payment() })];
    }
    case 'payout': {
      const burst = random.chance(0.15) ? random.int(4, 10) : 1;
      return Array.from({ length: burst }, () =>
        one({
          do: kind,
          partner,
          amount: random.int(burst > 1 ? 50 : 20, burst > 1 ? 150 : 90) * 1_000,
          account: random.weighted(payoutAccounts),
        }),
      );
    }
    case 'circle': {
      const first = random.int(0, castSize.users - 1);
      const members = inARow(first, random.int(2, 4));
      const end = random.chance(0.2) ? 'cancel' : 'run';
      const amount = random.int(10, 20) * 1_000;
      return [one({ do: kind, members, amount, channel: random.pick(channels), rounds: members.length, end })];
    }
    case 'subscription':
      return [one({ do: kind, user, amount: random.int(1, 20) * 1_000, stop: random.chance(0.3) })];
    case 'allocation':
      return [one({ do: kind, cause: random.int(0, castSize.causes - 1) })];
    case 'operator':
      return [one({ do: kind, action: random.pick(['credit', 'refund'] as const), user })];
  }
}

const kinds: Record<Operation['do'], z.ZodRawShape> = {
  balance: {
    user: below(castSize.users),
    type: z.enum(gatewayTypes),
    amount: whole,
  },
  transfer: {
    user: below(castSize.users),
    amount: whole,
  },
  gateway: {
    user: below(castSize.users),
    type: z.enum(gatewayTypes),
    channel: z.int(),
    amount: whole,
    ending: z.enum(endings),
    afterMs: whole,
  },
  'partner-payment': {
    partner: below(castSize.partners),
    method: z.string(),
    amount: whole,
    ending: z.enum(endings),
    afterMs: whole,
  },
  payout: {
    partner: below(boundedPartner + 1),
    amount: whole,
    account: z.string(),
  },
  circle: {
    members: z.array(below(castSize.users)),
    amount: whole,
    channel: z.int(),
    rounds: whole,
    end: z.enum(['run', 'cancel']),
  },
  terms: termsFields,
  subscription: {
    user: below(castSize.users),
    amount: whole,
    stop: z.boolean(),
  },
  allocation: { cause: below(castSize.causes) },
  period: {},
  operator: {
    action: z.enum(['credit', 'refund']),
    user: below(castSize.users),
  },
  withdrawal: { user: below(castSize.users), amount: whole, account: z.string() },
  disbursement: { cause: below(castSize.causes), amount: whole, account: z.string() },
  verdict: { approver: below(castSize.approvers), rejects: z.boolean() },
  release: { user: below(castSize.users) },
  refund: refundFields,
  'take-back': takeBackFields,
  'payout-batch': batchFields,
  instrument: instrumentFields,
};
const manners = {
  id: z.string(),
  at: z.number().min(0),
  api: z.union([z.literal(0), z.literal(1)]),
  keyed: z.boolean(),
  patienceMs: whole,
  retries: whole,
  twin: z.boolean(),
  otherBody: z.boolean(),
};
const planShape = z.strictObject({
  seed: z.number(),
  durationMs: z.number().min(0),
  work: z.array(
    z.union(
      Object.entries(kinds).map(([kind, fields]) => z.strictObject({ do: z.literal(kind), ...manners, ...fields })),
    ),
  ),
  faults: z.array(z.looseObject({ id: z.string(), at: z.number().min(0), do: z.enum(Object.keys(faultStories)) })),
});

/** Parses a recorded plan. Throws, naming the errors, if it is invalid: a plan that does nothing would find nothing. */
export const parsePlan = (text: string): Plan => planShape.parse(JSON.parse(text)) as unknown as Plan;
