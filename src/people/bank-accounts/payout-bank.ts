import type { EntityManager } from '@mikro-orm/postgresql';
import { refuseField } from '../../shared/errors.ts';
import { compareMoney, formatMoney, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';

/** What a bank accepts: the length of account numbers, and transfers of IDR `minimum` to `maximum` (scale 4). */
export interface PayoutBank {
  shortest: number;
  longest: number;
  minimum: Money;
  maximum: Money;
  /** The provider that sends transfers to the bank and checks its accounts. */
  provider: string;
}

/** SQL: the columns of `PayoutBank`, of the row `b` of `payout_banks`. */
export const bankColumns = `b.account_number_min_length as shortest, b.account_number_max_length as longest,
  b.minimum_amount::text as minimum, b.maximum_amount::text as maximum, b.provider`;

/** The bank of this code; null when none is served. */
export async function findPayoutBank(em: EntityManager, bankCode: string): Promise<PayoutBank | null> {
  const [bank] = await em.execute<PayoutBank[]>(
    `select ${bankColumns} from payout_banks b where b.bank_code = ? and b.active`,
    [bankCode],
  );
  return bank ?? null;
}

/**
 * What is wrong with codes of banks that are not served, by code, for the field that has it: names the bank that was meant
 * where its code was written in another case.
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

/** Refuses a bank that is not served. */
export async function refuseUnknownBank(em: EntityManager, bankCode: string): Promise<never> {
  const complain = await complainOfUnknownBanks(em, [bankCode]);
  return refuseField('bank_code', complain(bankCode));
}

/** The bank of this code. Throws REQUEST_INVALID_PAYLOAD when none is served. */
export const getPayoutBank = async (em: EntityManager, bankCode: string): Promise<PayoutBank> =>
  (await findPayoutBank(em, bankCode)) ?? refuseUnknownBank(em, bankCode);

/** What is wrong with an account number at a bank, for the field that has it; null when the bank can have it. */
export function complainOfAccountNumber(
  number: string,
  bankCode: string,
  { shortest, longest }: PayoutBank,
): string | null {
  if (/^\d+$/.test(number) && number.length >= shortest && number.length <= longest) return null;
  return `an account at ${bankCode} has ${shortest === longest ? `${shortest}` : `${shortest} to ${longest}`} digits`;
}

/** What is wrong with the amount that a bank would receive, for the field that has it; null if the bank accepts it. */
export function complainOfBankAmount(amount: Money, bankCode: string, { minimum, maximum }: PayoutBank): string | null {
  if (compareMoney(amount, minimum) >= 0 && compareMoney(amount, maximum) <= 0) return null;
  return `${bankCode} accepts IDR ${minimum} to ${maximum}; IDR ${formatMoney(amount)} would arrive`;
}
