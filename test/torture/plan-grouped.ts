import { z } from 'zod';
import { batchPartner, below, castSize, whole } from './cast-size.ts';
import type { Random } from './random.ts';

/** Requests of partners that create several resources. */
export type Grouped =
  /** Payouts that a second key approves or rejects, or both at once. */
  | { do: 'payout-batch'; partner: number; amounts: number[]; account: string; decides: (typeof decisions)[number] }
  /** A reusable instrument; each of `payments` is an amount paid, right or wrong. */
  | {
      do: 'instrument';
      partner: number;
      method: 'virtual_account' | 'qris';
      /** The required amount of each; null for any. */
      amount: number | null;
      payments: number[];
      /** Whether it is closed while the last payment is made. */
      closes: boolean;
      afterMs: number;
    };

const decisions = ['approve', 'reject', 'both', 'nothing'] as const;
/** Accounts whose transfers all become final. */
const accounts = { '000011': 8, '999999': 2, '900003': 1 } as const;
const kinds = { 'payout-batch': 5, instrument: 5 } as const;

/** Draws a batch of payouts, or an instrument with its payments. */
export function drawGrouped(random: Random): Grouped {
  const kind = random.weighted(kinds);
  const partner = random.int(0, castSize.partners - 1);
  if (kind === 'payout-batch') {
    return {
      do: kind,
      partner: batchPartner,
      amounts: Array.from({ length: random.int(1, 6) }, () => random.int(12, 20) * 1_000),
      account: random.weighted(accounts),
      decides: random.weighted({ approve: 7, reject: 1, both: 2, nothing: 1 }),
    };
  }
  const amount = random.chance(0.4) ? random.int(20, 60) * 1_000 : null;
  return {
    do: kind,
    partner,
    method: random.pick(['virtual_account', 'qris'] as const),
    amount,
    payments: Array.from({ length: random.int(1, 5) }, () =>
      amount !== null && random.chance(0.8) ? amount : random.int(20, 60) * 1_000 + 1,
    ),
    closes: random.chance(0.4),
    afterMs: random.int(50, 2_000),
  };
}

/** Their fields in a recorded plan. */
export const batchFields = {
  partner: z.literal(batchPartner),
  amounts: z.array(whole),
  account: z.string(),
  decides: z.enum(decisions),
};
export const instrumentFields = {
  partner: below(castSize.partners),
  method: z.enum(['virtual_account', 'qris']),
  amount: whole.nullable(),
  payments: z.array(whole),
  closes: z.boolean(),
  afterMs: whole,
};
