import { z } from 'zod';
import { below, castSize, whole } from './cast-size.ts';
import { payoutAccounts } from './plan-money-out.ts';
import type { Random } from './random.ts';

/** How a partner's customer pays: the method, and the channel where a method has several. */
export const refundChannels = {
  // Whether the provider refunds in full or in part, in full only, or not at all.
  DANA: { method: 'ewallet', channel: 'DANA' },
  LINKAJA: { method: 'ewallet', channel: 'LINKAJA' },
  BNI: { method: 'virtual_account', channel: 'BNI' },
  QRIS: { method: 'qris' },
} as const;
type RefundChannel = keyof typeof refundChannels;

/** Money refunded to its payer. */
export type Refunding =
  /** A partner collects a payment and refunds it, in parts; null is a part without an amount: the rest. */
  | {
      do: 'refund';
      partner: number;
      channel: RefundChannel;
      paid: number;
      parts: (number | null)[];
      /** Whether all parts are requested at once. */
      together: boolean;
      /** Whether the refund is requested while the customer still pays. */
      early: boolean;
      /** The last digits of the account that transfers go to. */
      account: string;
      afterMs: number;
    }
  /** A donor requests a refund, or two people of the platform decide one, or all of these at once. */
  | {
      do: 'take-back';
      user: number;
      /** Whether the donor donates just before; otherwise the latest donation is refunded. */
      gives: boolean;
      type: (typeof donationTypes)[number];
      amount: number;
      by: (typeof askers)[number];
      afterMs: number;
    };

const donationTypes = ['charitable_cause_donate', 'charitable_cause_open_donate'] as const;
const askers = ['donor', 'people', 'both'] as const;

/** The sandbox's magic amounts for refunds to wallets: one is refused, one never answered and never carried out. */
export const refusedRefund = 121_212;
export const silentRefund = 900_004;
/** Weights of parts: an ordinary amount, or one refused, failing later, waiting for an operator, or unanswered. */
const magicParts = {
  plain: 12,
  '121212': 1,
  '999999': 2,
  '131313': 1,
  '900003': 2,
  '900004': 1,
} as const;

/** The number of parts, and their sum as a percentage of the payment. */
const sizes = { '1': 4, '2': 3, '3': 2, '6': 2 } as const;
const shares = { '100': 3, '130': 2, '60': 3 } as const;

const kinds = { refund: 5, 'take-back': 5 } as const;

/** Draws a refund. */
export function drawRefund(random: Random): Refunding {
  const kind = random.weighted(kinds);
  if (kind === 'take-back') {
    return {
      do: kind,
      user: random.int(0, castSize.users - 1),
      gives: random.chance(0.7),
      type: random.pick(donationTypes),
      amount: random.int(1, 30) * 1_000,
      by: random.weighted({ donor: 4, people: 2, both: 2 }),
      afterMs: random.int(0, 1_500),
    };
  }
  const amounts = Array.from({ length: Number(random.weighted(sizes)) }, () => drawPart(random));
  // The parts sum to the payment, to less or to more; if more, a part must be refused.
  const share = Number(random.weighted(shares));
  const sum = amounts.reduce((total, amount) => total + amount, 0);
  const rest = random.chance(0.3) ? [null] : [];
  return {
    do: kind,
    partner: random.int(0, castSize.partners - 1),
    channel: random.weighted({ DANA: 5, LINKAJA: 2, BNI: 3, QRIS: 2 }),
    paid: Math.max(...amounts, Math.round((sum * share) / 100)),
    parts: [...amounts, ...rest],
    together: random.chance(0.6),
    early: random.chance(0.15),
    account: random.weighted(payoutAccounts),
    afterMs: random.int(50, 1_500),
  };
}

function drawPart(random: Random): number {
  const part = random.weighted(magicParts);
  return part === 'plain' ? random.int(20, 60) * 1_000 : Number(part);
}

/** Their fields in a recorded plan. */
export const refundFields = {
  partner: below(castSize.partners),
  channel: z.enum(Object.keys(refundChannels)),
  paid: whole,
  parts: z.array(z.int().min(1).nullable()),
  together: z.boolean(),
  early: z.boolean(),
  account: z.string(),
  afterMs: whole,
};
export const takeBackFields = {
  user: below(castSize.users),
  gives: z.boolean(),
  type: z.enum(donationTypes),
  amount: whole,
  by: z.enum(askers),
  afterMs: whole,
};
