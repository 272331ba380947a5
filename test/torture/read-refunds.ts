import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { formatMoney } from '../../src/shared/money.ts';
import type { Cast } from './cast.ts';
import type { Facts } from './facts.ts';
import type { DonationFact } from './refund-facts.ts';
import type { Topology } from './topology.ts';

/** Reads the facts about refunds of partners' payments and of donations. */
export async function readRefunds(
  topology: Pick<Topology, 'api' | 'em'>,
  cast: Cast,
): Promise<Pick<Facts, 'refunds' | 'donations' | 'toldAmounts'>> {
  const em = topology.em();
  return {
    refunds: await em.execute<Facts['refunds']>(
      'select id::text, payment_id::text as "paymentId" from payment_refunds',
    ),
    donations: await readDonations(em, cast),
    toldAmounts: Object.fromEntries(
      await Promise.all(cast.causes.map(async (id) => [id, await readToldAmount(topology, cast, id)] as const)),
    ),
  };
}

async function readDonations(em: EntityManager, { users, accounts }: Cast): Promise<DonationFact[]> {
  const rows = await em.execute<
    (Pick<DonationFact, 'id' | 'amount' | 'status' | 'causeId'> & { userId: string; paidBy: string | null })[]
  >(
    // A gateway payment debits none of our accounts.
    `select d.id::text, d.amount::text, d.status, d.cause_id::text as "causeId", d.user_id::text as "userId",
       case when t.destination_account_id is not null then t.source_account_id::text end as "paidBy"
     from donations d left join transactions t on t.id = d.transaction_id`,
  );
  const oldest = new Map(users.map(({ user }) => [user.id, user.accountId]));
  return rows.map(({ userId, paidBy, ...donation }) => ({
    ...donation,
    backTo: paidBy ?? oldest.get(userId) ?? null,
    heldBy: donation.causeId === null ? systemAccounts.openDonationPool : (accounts[donation.causeId] ?? ''),
  }));
}

async function readToldAmount({ api }: Pick<Topology, 'api'>, { admin }: Cast, causeId: string): Promise<string> {
  const { status, body } = await api.get(`/v1/charitable-causes/${causeId}`, { token: admin.token });
  if (status !== 200) throw new Error(`reading a cause returned ${status}`);
  return formatMoney(String(body.charitable_cause.current_amount));
}
