import type { EntityManager } from '@mikro-orm/postgresql';
import { type FeeRule, freeOfCharge, leastPayout, type Price, priceCollection } from '../../partners/fee.ts';
import type { FeeMode } from '../../partners/partner.ts';
import { refuseField } from '../../partners/refuse-field.ts';
import {
  bankColumns,
  complainOfAccountNumber,
  complainOfBankAmount,
  type PayoutBank,
  refuseUnknownBank,
} from '../../people/bank-accounts/payout-bank.ts';
import { must } from '../../shared/assert.ts';
import { isDomainError } from '../../shared/errors.ts';
import { compareMoney, feeOf, formatMoney, isWholeRupiah, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import { payoutRule } from './provider-fee.ts';

export interface PayoutQuestion {
  partnerId: string;
  bankCode: string;
  /** Checked only when given. */
  accountNumber?: string | undefined;
  amount: Money;
}

/** `gross` is what is reserved, `net` what reaches the bank. */
export interface PricedPayout extends Price {
  feeMode: FeeMode;
  providerFee: Money;
}

/** What the price of a payout to a bank follows from. */
interface PriceContext extends PayoutBank {
  feeMode: FeeMode;
  rule: FeeRule;
}

interface ContextRow extends PayoutBank {
  fee_mode: FeeMode;
  bank_code: string;
  fixed: Money | null;
  basis_points: number;
  provider_fixed: Money;
  provider_basis_points: number;
}

/** What a payout costs, by the table of banks and the most specific fee rule (bank before method). */
export async function pricePayout(em: EntityManager, question: PayoutQuestion): Promise<PricedPayout> {
  const { partnerId, bankCode } = question;
  const context = (await readPriceContexts(em, { partnerId, bankCodes: [bankCode] })).get(bankCode);
  return context === undefined ? refuseUnknownBank(em, bankCode) : priceWith(context, question);
}

type Question = Omit<PayoutQuestion, 'partnerId'>;

/** The price of a payout in its context. Refuses the first thing that `complainOfPayout` finds. */
export function priceWith(context: PriceContext | undefined, question: Question): PricedPayout {
  const [complaint] = complainOfPayout(context, question);
  if (complaint !== undefined) refuseField(complaint.field, complaint.complaint);
  const { rule, feeMode } = must(context, 'a bank that is not served was refused');
  const price = priceCollection(feeMode, formatMoney(question.amount), rule);
  return {
    ...price,
    feeMode,
    providerFee: feeOf(price.net, rule.provider_fixed, rule.provider_basis_points),
  };
}

interface PayoutComplaint {
  field: 'bank_code' | 'bank_account_number' | 'amount';
  complaint: string;
}

/**
 * All that is wrong with a payout: a bank that is not served, an account number of the wrong length for the bank, a fee
 * that would need more than four decimals, and a net that is not a positive whole number of rupiah within the bank's
 * limits.
 */
export function complainOfPayout(
  context: PriceContext | undefined,
  { bankCode, accountNumber, amount }: Question,
): PayoutComplaint[] {
  if (context === undefined) return [{ field: 'bank_code', complaint: 'no supported bank has this code' }];
  const ofNumber = accountNumber === undefined ? null : complainOfAccountNumber(accountNumber, bankCode, context);
  const ofAmount = complainOfAmount(context, { bankCode, amount });
  return [
    ...(ofNumber === null ? [] : [{ field: 'bank_account_number' as const, complaint: ofNumber }]),
    ...(ofAmount === null ? [] : [{ field: 'amount' as const, complaint: ofAmount }]),
  ];
}

function complainOfAmount(
  context: PriceContext,
  { bankCode, amount }: Pick<Question, 'bankCode' | 'amount'>,
): string | null {
  const { feeMode, rule, minimum } = context;
  let price: Price;
  try {
    price = priceCollection(feeMode, formatMoney(amount), rule);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return error.complaint;
  }
  const { net, fee } = price;
  if (compareMoney(net, '0') <= 0) {
    return `does not cover the fee of IDR ${fee}: the least is IDR ${leastPayout(feeMode, rule, minimum) ?? 'unknown'}`;
  }
  if (!isWholeRupiah(net)) return `what reaches the bank, ${net}, is not a whole IDR amount`;
  return complainOfBankAmount(net, bankCode, context);
}

/** The contexts of payouts to these banks, by bank code; a bank that is not served has none. */
export async function readPriceContexts(
  em: EntityManager,
  { partnerId, bankCodes }: { partnerId: string; bankCodes: readonly string[] },
): Promise<ReadonlyMap<string, PriceContext>> {
  const rows = await em.execute<ContextRow[]>(
    `select p.fee_mode, b.bank_code, ${bankColumns}, f.fixed, f.basis_points, f.provider_fixed, f.provider_basis_points
     from partners p
     join payout_banks b on b.bank_code = any(?::text[]) and b.active
     ${payoutRule}
     where p.id = ?`,
    [textArray(bankCodes), partnerId],
  );
  return new Map(
    rows.map(({ bank_code, fee_mode: feeMode, fixed, ...row }) => {
      const rule: FeeRule = fixed === null ? freeOfCharge : { ...row, fixed };
      return [bank_code, { ...row, feeMode, rule }];
    }),
  );
}
