import type { EntityManager } from '@mikro-orm/postgresql';
import type { BankAccount } from '../../people/bank-accounts/bank-account.entity.ts';
import { complainOfBankAmount, findPayoutBank } from '../../people/bank-accounts/payout-bank.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { refuse } from '../../shared/errors.ts';
import { compareMoney, formatMoney, isWholeRupiah, type Money, subtractMoney } from '../../shared/money.ts';

/** The price of a withdrawal, IDR, scale 4; `amount` is `net` plus `fee`. */
export interface WithdrawalPrice {
  amount: Money;
  fee: Money;
  net: Money;
}

/**
 * The price of withdrawing an amount. Throws REQUEST_INVALID unless the net is a positive whole number of rupiah, and
 * if the bank is no longer served or does not accept the net.
 */
export async function priceWithdrawal(
  em: EntityManager,
  { bankCode, amount, fee }: { bankCode: string; amount: Money; fee: Money },
): Promise<WithdrawalPrice> {
  const net = subtractMoney(amount, fee);
  const complain = (complaint: string): never => refuse('REQUEST_INVALID', complaint, { field: 'amount' });
  if (compareMoney(net, '0') <= 0) complain(`does not cover the fee, IDR ${formatMoney(fee)}`);
  if (!isWholeRupiah(net)) complain(`the net amount, IDR ${net}, is not whole`);
  const bank = await findPayoutBank(em, bankCode);
  if (bank === null) refuse('REQUEST_INVALID', 'the bank is no longer served', { field: 'bank_account_id' });
  const complaint = complainOfBankAmount(net, bankCode, bank);
  if (complaint !== null) complain(complaint);
  return { amount: formatMoney(amount), fee: formatMoney(fee), net };
}

/** Throws REQUEST_INVALID if the bank account was added too recently, by the database's clock. */
export async function refuseUnusable(em: EntityManager, { usable_at: usableAt }: BankAccount): Promise<void> {
  if (usableAt <= (await readDatabaseClock(em))) return;
  refuse('REQUEST_INVALID', `usable from ${usableAt.toISOString()}`, { field: 'bank_account_id' });
}
