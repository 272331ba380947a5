import type { EntityManager } from '@mikro-orm/postgresql';
import { refuseField } from '../../shared/errors.ts';
import { compareMoney, formatMoney, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';

/** A bank's limits: the length of account numbers, and transfers of IDR `minimum` to `maximum` (scale 4). */
export interface PayoutBank {
  shortest: number;
  longest: number;
  minimum: Money;
  maximum: Money;
  /** The provider that sends transfers to the bank and checks its accounts. */
  provider: string;
}

/** SQL: the columns of `PayoutBank`, from the row `b` of `payout_banks`. */
export const bankColumns = `b.account_number_min_length as shortest, b.account_number_max_length as longest,
  b.minimum_amount::text as minimum, b.maximum_amount::text as maximum, b.provider`;

/** Returns the bank with this code, or null if it is not supported. */
export async function findPayoutBank(em: EntityManager, bankCode: string): Promise<PayoutBank | null> {
  const [bank] = await em.execute<PayoutBank[]>(
    `select ${bankColumns} from payout_banks b where b.bank_code = ? and b.active`,
    [bankCode],
  );
  return bank ?? null;
}

/**
 * Returns the error texts for codes of unsupported banks, by code. Suggests the right code if only the case differs.
 */
export async function complainOfUnknownBanks(
  em: EntityManager,
  bankCodes: readonly string[],
): Promise<(bankCode: string) => string> {
  const written = (code: string) => code.trim().toLowerCase();
  const rows =
    bankCodes.length === 0
      ? []
      : await em.execute<{ code: string }[]>(
          'select bank_code as code from payout_banks where lower(bank_code) = any(?::text[]) and active',
          [textArray(bankCodes.map(written))],
        );
  const meant = new Map(rows.map(({ code }) => [written(code), code]));
  return (code) =>
    `no supported bank has this code${meant.has(written(code)) ? `: write ${meant.get(written(code))}` : ''}`;
}

/** Throws REQUEST_INVALID for a bank that is not supported. */
export async function refuseUnknownBank(em: EntityManager, bankCode: string): Promise<never> {
  const complain = await complainOfUnknownBanks(em, [bankCode]);
  return refuseField('bank_code', complain(bankCode));
}

/** Returns the bank with this code. Throws REQUEST_INVALID if it is not supported. */
export const getPayoutBank = async (em: EntityManager, bankCode: string): Promise<PayoutBank> =>
  (await findPayoutBank(em, bankCode)) ?? refuseUnknownBank(em, bankCode);

/** Returns the error text for an account number that the bank does not use, or null. */
export function complainOfAccountNumber(
  number: string,
  bankCode: string,
  { shortest, longest }: PayoutBank,
): string | null {
  if (/^\d+$/.test(number) && number.length >= shortest && number.length <= longest) return null;
  return `an account at ${bankCode} has ${shortest === longest ? `${shortest}` : `${shortest} to ${longest}`} digits`;
}

/** Returns the error text for an amount that the bank does not accept, or null. */
export function complainOfBankAmount(amount: Money, bankCode: string, { minimum, maximum }: PayoutBank): string | null {
  if (compareMoney(amount, minimum) >= 0 && compareMoney(amount, maximum) <= 0) return null;
  return `${bankCode} accepts IDR ${minimum} to ${maximum}; IDR ${formatMoney(amount)} would arrive`;
}
