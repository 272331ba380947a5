import { isProviderUnknown } from '../gateway/gateway.ts';
import { systemAccounts } from '../ledger/account.ts';
import { bookExternal } from '../reconciliation/book-external.ts';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { refuse } from '../shared/errors.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney, compareMoney } from '../shared/money.ts';
import type { DecisionHandling } from './handling.ts';

const { gatewayClearing, feeRevenue, providerCost } = systemAccounts;

/** Books money that the platform itself moved at the provider: needs two people. */
export const bookingExternal: DecisionHandling<'book_external'> = {
  async look(em, gateway, { amount, reference }) {
    const [row] = await em.execute<{ clearing: string; own: string; is_booked: boolean }[]>(
      `select (-account_balance(?))::numeric(20, 4)::text as clearing,
         (account_balance(?) + account_balance(?))::numeric(20, 4)::text as own,
         exists (select from journal_keys where business_key = ?) as is_booked`,
      [gatewayClearing, feeRevenue, providerCost, journalKeys.platformExternal(reference)],
    );
    const { clearing, own, is_booked } = must(row, 'a select without a table has a row');
    if (is_booked)
      refuse('REQUEST_INVALID', 'a movement with this reference is already booked', { field: 'reference' });
    if (compareMoney(amount, '0') < 0 && compareMoney(addMoney(own, amount), '0') < 0) {
      refuse('REQUEST_INVALID', `it is more than the platform's own money, ${own}`, { field: 'amount' });
    }
    const signal = AbortSignal.timeout(budgets.provider.call);
    const balance = await gateway.readBalance({ signal }).catch((error: unknown) => {
      if (!isProviderUnknown(error)) throw error;
      return null;
    });
    return {
      evidence: { provider: balance === null ? null : { balance }, books: { clearing, own_money: own } },
      isProven: false,
    };
  },
  carryOut: (em, _, { id }) => bookExternal(em, id),
  whyMoved: async () => null,
};
