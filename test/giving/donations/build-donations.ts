import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { type BuildPlace, type BuiltUser, fund } from '../../support/build.ts';
import type { Stack } from '../../support/stack.ts';

/** Donates an amount (IDR) from the donor's balance to a cause, or to the open pool without `causeId`. */
export const give = (stack: Pick<Stack, 'post'>, donor: BuiltUser, amount: number, causeId?: string) =>
  stack.post(
    '/v1/payments/balance',
    {
      reference_type: causeId === undefined ? 'charitable_cause_open_donate' : 'charitable_cause_donate',
      reference_id: causeId ?? systemAccounts.openDonationPool,
      source_account_id: donor.accountId,
      amount,
    },
    { token: donor.token },
  );

const amountOfEach = 1000;
/** Payments per statement: the more often one transaction changes a balance, the slower it reads it. */
const perStatement = 250;

/**
 * Creates open donations of IDR 1,000 each, in batches, with the SQL functions that payments call. Returns their ids.
 */
export async function buildOpenDonations(stack: BuildPlace, donor: BuiltUser, count: number): Promise<string[]> {
  await fund(stack, donor.accountId, String(count * amountOfEach));
  const ids: string[] = [];
  while (ids.length < count) ids.push(...(await giveAtOnce(stack, donor, Math.min(perStatement, count - ids.length))));
  return ids;
}

async function giveAtOnce(
  { em }: Pick<BuildPlace, 'em'>,
  { id, accountId }: BuiltUser,
  count: number,
): Promise<string[]> {
  const pool = systemAccounts.openDonationPool;
  const given = await em().execute<{ donation_id: string }[]>(
    `with numbered as materialized (select gen_random_uuid() as transaction_id from generate_series(1, ?)),
     paid as materialized (
       select p.* from numbered n, pay_from_balances(jsonb_build_array(jsonb_build_object(
         'transaction_id', n.transaction_id, 'journal_id', gen_random_uuid(),
         'kind', 'balance-payment.charitable_cause_open_donate', 'user_id', ?::uuid, 'user_type', 'individual',
         'source_account_id', ?::uuid, 'amount', ?::numeric, 'reference_type', 'donation', 'reference_id', ?::uuid,
         'purpose', 'product_transfer', 'answer', '')), targets_at(array[?::uuid])) p)
     select settle_donation('open', ?, null, ?, null, (payment).transaction_id) as donation_id
     from paid where outcome = 'paid'`,
    [count, id, accountId, amountOfEach, pool, pool, id, amountOfEach],
  );
  return given.map(({ donation_id }) => donation_id);
}
