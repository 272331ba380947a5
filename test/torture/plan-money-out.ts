import { castSize } from './cast-size.ts';
import type { Random } from './random.ts';

/** Withdrawals of people. */
export type MoneyOut =
  | { do: 'withdrawal'; user: number; amount: number; account: string }
  /** The owner of a cause disburses its money, for a purpose. */
  | { do: 'disbursement'; cause: number; amount: number; account: string }
  /** One of several platform users approves or rejects the oldest pending disbursement. */
  | { do: 'verdict'; approver: number; rejects: boolean }
  /** A saver releases a goal, which closes it. */
  | { do: 'release'; user: number };

/** The sandbox's magic numbers, and plain ones, which succeed. */
export const payoutAccounts = {
  '000011': 8,
  '121212': 1,
  '999999': 2,
  '123456': 1,
  '131313': 1,
  '654321': 2,
  '900003': 1,
  '900004': 1,
} as const;

const kinds = { withdrawal: 12, disbursement: 8, verdict: 9, release: 1 } as const;

/**
 * Draws money paid out by people: one piece of work, or a simultaneous burst that exceeds the daily limit or the
 * donations to a cause.
 */
export function drawMoneyOut(random: Random): MoneyOut[] {
  const kind = random.weighted(kinds);
  const burst = random.chance(0.3) ? random.int(3, 8) : 1;
  const amount = random.int(20, 90) * 1_000;
  const many = (draw: () => MoneyOut): MoneyOut[] => Array.from({ length: burst }, draw);
  switch (kind) {
    case 'withdrawal': {
      const user = random.int(0, castSize.users - 1);
      return many(() => ({ do: kind, user, amount, account: random.weighted(payoutAccounts) }));
    }
    case 'disbursement': {
      const cause = random.int(0, castSize.causes - 1);
      return many(() => ({ do: kind, cause, amount, account: random.weighted(payoutAccounts) }));
    }
    case 'verdict':
      return [{ do: kind, approver: random.int(0, castSize.approvers - 1), rejects: random.chance(0.2) }];
    case 'release':
      return [{ do: kind, user: random.int(0, castSize.users - 1) }];
  }
}
