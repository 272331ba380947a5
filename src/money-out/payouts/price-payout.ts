import type { EntityManager } from '@mikro-orm/postgresql';
import {
  complainOfFee,
  type FeeRule,
  freeOfCharge,
  isWorthwhile,
  leastPayout,
  type Price,
  priceCollection,
} from '../../partners/fee.ts';
import type { FeeMode } from '../../partners/partner.ts';
import {
  bankColumns,
  complainOfAccountNumber,
  complainOfBankAmount,
  type PayoutBank,
  refuseUnknownBank,
} from '../../people/bank-accounts/payout-bank.ts';
import { must } from '../../shared/assert.ts';
import { isDomainError, refuseField } from '../../shared/errors.ts';
import { feeOf, formatMoney, isWholeRupiah, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import { payoutRule } from './provider-fee.ts';

export interface PayoutQuestion {
  partnerId: string;
  bankCode: string;
  /** Checked only if given. */
  accountNumber?: string | undefined;
  amount: Money;
}

/** `gross` is reserved, `net` reaches the bank. */
export interface PricedPayout extends Price {
  feeMode: FeeMode;
  providerFee: Money;
}

/** The inputs to the price of a payout to a bank. */
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

/**
 * The price of a payout, from the bank's row and the most specific fee rule (bank before method). Refuses the first
 * error that `judgePayout` finds.
 */
export async function pricePayout(em: EntityManager, question: PayoutQuestion): Promise<PricedPayout> {
  const { partnerId, bankCode } = question;
  const context = (await readPriceContexts(em, { partnerId, bankCodes: [bankCode] })).get(bankCode);
  if (context === undefined) return refuseUnknownBank(em, bankCode);
  const { complaints, price } = judgePayout(context, question);
  const [first] = complaints;
  if (first !== undefined) refuseField(first.field, first.complaint);
  return must(price, 'a valid payout has a price');
}

interface PayoutComplaint {
  field: 'bank_account_number' | 'amount';
  complaint: string;
}

/**
 * All errors of a payout to a served bank: an account number of the wrong length, a fee that would need more than four
 * decimals, and a net that is not a positive whole number of rupiah within the bank's limits. If the amount is valid,
 * also the price; without an amount, checks only the account number.
 */
export function judgePayout(
  context: PriceContext,
  { bankCode, accountNumber, amount }: Partial<PayoutQuestion> & Pick<PayoutQuestion, 'bankCode'>,
): { complaints: PayoutComplaint[]; price: PricedPayout | null } {
  const complaints: PayoutComplaint[] = [];
  const ofNumber = accountNumber === undefined ? null : complainOfAccountNumber(accountNumber, bankCode, context);
  if (ofNumber !== null) complaints.push({ field: 'bank_account_number', complaint: ofNumber });
  if (amount === undefined) return { complaints, price: null };
  const price = priceWith(context, { bankCode, amount });
  if (typeof price !== 'string') return { complaints, price };
  return { complaints: [...complaints, { field: 'amount', complaint: price }], price: null };
}

/** The price of an amount at a bank, or why there is none. */
function priceWith(
  context: PriceContext,
  { bankCode, amount }: Pick<PayoutQuestion, 'bankCode' | 'amount'>,
): PricedPayout | string {
  const { feeMode, rule, minimum } = context;
  let price: Price;
  try {
    price = priceCollection(feeMode, formatMoney(amount), rule);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return error.complaint;
  }
  const { net, fee } = price;
  if (!isWorthwhile(price)) return complainOfFee(fee, leastPayout(feeMode, rule, minimum));
  if (!isWholeRupiah(net)) return `the net amount, ${net}, is not a whole IDR amount`;
  const ofBank = complainOfBankAmount(net, bankCode, context);
  return ofBank ?? { ...price, feeMode, providerFee: feeOf(net, rule.provider_fixed, rule.provider_basis_points) };
}

/** The price contexts of payouts to these banks, by bank code; omits banks that are not served. */
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
