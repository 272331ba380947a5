import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { findErasedOwner } from '../../ledger/find-accounts.ts';
import { insufficientBalance } from '../../ledger/post-journal.ts';
import { type DecisionHandling, refused } from '../../money-out/decisions/handling.ts';
import { isProviderUnknown } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { errorCodeOf, refuse } from '../../shared/errors.ts';
import { journalKeys, newId } from '../../shared/ids.ts';
import { addMoney, compareMoney, type Money } from '../../shared/money.ts';

const { gatewayClearing, feeRevenue, providerCost } = systemAccounts;

/** SQLSTATE of a withdrawal from the part of an account that belongs to its causes. */
const keptForCauses = 'AM004';

/**
 * Books money that the platform itself moved at the provider (a top-up, a withdrawal, a provider charge that no payment
 * explains), once per reference; needs two operators. The counter-account is fee revenue, the platform's own money, as
 * money owed to others cannot be withdrawn; for an erased person's money it is that person's account. A decision for a
 * movement already booked, of another amount than its transfer, or for more than the balance becomes `refused`.
 */
export const bookingExternal: DecisionHandling<'book_external'> = {
  async look(em, gateways, { amount, reference, account_id: accountId }) {
    const [row] = await em.execute<{ clearing: string; own: string; is_booked: boolean; transferred: Money | null }[]>(
      `select (-account_balance(?))::numeric(20, 4)::text as clearing,
         (account_balance(?) + account_balance(?))::numeric(20, 4)::text as own,
         exists (select from journal_keys where business_key = ?)
           or is_transfer_known(?) as is_booked,
         (select t.theirs ->> 'amount' from transfers_beyond_ours(?) t where t.subject = ? limit 1) as transferred`,
      [gatewayClearing, feeRevenue, providerCost, journalKeys.platformExternal(reference), ...Array(3).fill(reference)],
    );
    const { clearing, own, is_booked, transferred } = must(row, 'a select without a table has a row');
    if (is_booked)
      refuse('REQUEST_INVALID', 'a movement with this reference is already booked', { field: 'reference' });
    if (
      transferred !== null &&
      compareMoney(amount, '0') < 0 &&
      compareMoney(addMoney(amount, transferred), '0') !== 0
    ) {
      refuse('REQUEST_INVALID', `is not that of the transfer, IDR ${transferred}`, { field: 'amount' });
    }
    const account = accountId === undefined ? null : { account_id: accountId, free: await freeOfErased(em, accountId) };
    if (account !== null && compareMoney(addMoney(account.free, amount), '0') < 0) {
      refuse('REQUEST_INVALID', `exceeds the available balance of the account, IDR ${account.free}`, {
        field: 'amount',
      });
    }
    if (account === null && compareMoney(amount, '0') < 0 && compareMoney(addMoney(own, amount), '0') < 0) {
      refuse('REQUEST_INVALID', `exceeds the platform's own balance, IDR ${own}`, { field: 'amount' });
    }
    const signal = AbortSignal.timeout(budgets.provider.call);
    const balance = await gateways.readBalance({ signal }).catch((error: unknown) => {
      if (!isProviderUnknown(error)) throw error;
      return null;
    });
    return {
      evidence: { provider: balance === null ? null : { balance }, books: { clearing, own_money: own, ...account } },
      isProven: false,
    };
  },
  whyMoved: async () => null,
  async act(tx, _, { id, account_id }) {
    const sql = 'select book_external(?, ?) as booked';
    try {
      // A refusal by the database is rolled back, and the decision closed here.
      const [row] = await tx.transactional((inner) => inner.execute<{ booked: boolean }[]>(sql, [newId(), id]));
      return row?.booked ? undefined : refused('this movement is already booked, or is of another amount');
    } catch (error) {
      if (!([insufficientBalance, keptForCauses] as unknown[]).includes(errorCodeOf(error))) throw error;
      return refused(`exceeds ${account_id ? 'the available balance of the account' : "the platform's own balance"}`);
    }
  },
};

/**
 * Returns how much may leave an erased person's account, in IDR; donations to the person's causes must stay. Throws
 * REQUEST_INVALID if it is not an erased person's account.
 */
async function freeOfErased(em: EntityManager, accountId: string): Promise<Money> {
  if ((await findErasedOwner(em, accountId)) === null) {
    return refuse('REQUEST_INVALID', 'is not the account of an erased person', { field: 'account_id' });
  }
  const [row] = await em.execute<{ free: Money }[]>(
    'select greatest(account_balance(?) - kept_for_causes(?), 0)::numeric(20, 4)::text as free',
    [accountId, accountId],
  );
  return must(row, 'a select without a table has a row').free;
}
