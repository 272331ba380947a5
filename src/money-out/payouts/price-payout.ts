import type { EntityManager } from '@mikro-orm/postgresql';
import { type FeeRule, freeOfCharge, leastPayout, type Price, priceCollection } from '../../partners/fee.ts';
import type { FeeMode } from '../../partners/partner.ts';
import { aboutField, refuseField } from '../../partners/refuse-field.ts';
import { compareMoney, feeOf, formatMoney, isWholeRupiah, type Money } from '../../shared/money.ts';
import {
  bankColumns,
  complainOfAccountNumber,
  complainOfBankAmount,
  type PayoutBank,
  refuseUnknownBank,
} from './payout-bank.ts';
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

interface Context extends PayoutBank {
  fee_mode: FeeMode;
  bank_code: string | null;
  fixed: Money | null;
  basis_points: number;
  provider_fixed: Money;
  provider_basis_points: number;
}

/**
 * What a payout costs, by the table of banks and the most specific fee rule (bank before method). Refuses a bank that
 * is not served, an account number of the wrong length for the bank, a fee that would need more than four decimals, and
 * a net that is not a positive whole number of rupiah within the bank's limits.
 */
export async function pricePayout(em: EntityManager, question: PayoutQuestion): Promise<PricedPayout> {
  const { bankCode, accountNumber, amount } = question;
  const context = await readContext(em, question);
  if (context?.bank_code == null) return refuseUnknownBank(em, bankCode);
  const ofNumber = accountNumber === undefined ? null : complainOfAccountNumber(accountNumber, bankCode, context);
  if (ofNumber !== null) refuseField('bank_account_number', ofNumber);
  const rule: FeeRule = context.fixed === null ? freeOfCharge : { ...context, fixed: context.fixed };
  const price = aboutField('amount', () => priceCollection(context.fee_mode, formatMoney(amount), rule));
  if (compareMoney(price.net, '0') <= 0) {
    const least = leastPayout(context.fee_mode, rule, context.minimum);
    refuseField('amount', `does not cover the fee of IDR ${price.fee}: the least is IDR ${least ?? 'unknown'}`);
  }
  if (!isWholeRupiah(price.net)) {
    refuseField('amount', `what reaches the bank, ${price.net}, is not a whole IDR amount`);
  }
  const ofAmount = complainOfBankAmount(price.net, bankCode, context);
  if (ofAmount !== null) refuseField('amount', ofAmount);
  return {
    ...price,
    feeMode: context.fee_mode,
    providerFee: feeOf(price.net, rule.provider_fixed, rule.provider_basis_points),
  };
}

async function readContext(em: EntityManager, { partnerId, bankCode }: PayoutQuestion): Promise<Context | undefined> {
  const [context] = await em.execute<Context[]>(
    `select p.fee_mode, b.bank_code, ${bankColumns}, f.fixed, f.basis_points, f.provider_fixed, f.provider_basis_points
     from partners p
     left join payout_banks b on b.bank_code = ? and b.active
     ${payoutRule}
     where p.id = ?`,
    [bankCode, partnerId],
  );
  return context;
}
