import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateway, ProviderRecord } from '../gateway/gateway.ts';
import type { PayoutStatus } from '../payouts/payout.ts';
import { compareMoney, type Money } from '../shared/money.ts';
import { textArray } from '../shared/postgres.ts';
import { isUuid } from '../shared/uuid.ts';
import type { Difference } from './reconciliation.ts';

interface PayoutRow {
  id: string;
  status: PayoutStatus;
  net_amount: Money;
}

/** What is wrong with these transfers of the provider, by our payouts. */
export async function compareTransfers(em: EntityManager, records: readonly ProviderRecord[]): Promise<Difference[]> {
  const ids = records.map(({ reference }) => reference).filter(isUuid);
  const rows = await em.execute<PayoutRow[]>('select id, status, net_amount from payouts where id = any(?::uuid[])', [
    textArray(ids),
  ]);
  const payouts = new Map(rows.map((row) => [row.id, row]));
  return records.flatMap((record): Difference[] => {
    const { providerId, reference, status, amount } = record;
    const payout = payouts.get(reference);
    if (payout && payout.status === status && compareMoney(payout.net_amount, amount) === 0) return [];
    const ours = payout === undefined ? null : { status: payout.status, amount: payout.net_amount };
    return [
      {
        resourceType: 'payout',
        subject: providerId,
        resourceId: payout?.id ?? null,
        reference,
        ours,
        theirs: { status, amount },
      },
    ];
  });
}

const perPage = 500;

/**
 * Payouts of the period that we have sent and that are not among the provider's records, each asked for by name: those
 * the provider does not know although we say that they are on their way or arrived. What was refused or failed and is
 * not there is as it should be.
 */
export async function findMissingTransfers(
  em: EntityManager,
  gateway: Gateway,
  { from, to, seen, signal }: { from: Date; to: Date; seen: ReadonlySet<string>; signal?: AbortSignal },
): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (let after = { at: from, id: '00000000-0000-0000-0000-000000000000' }; ; ) {
    const rows = await em.execute<(PayoutRow & { created_at: string | Date })[]>(
      `select p.id, p.status, p.net_amount, p.created_at from payouts p
       where p.created_at >= ? and p.created_at < ? and (p.created_at, p.id) > (?, ?) and p.status <> 'failed'
         and exists (select from payout_attempts a where a.payout_id = p.id and a.outcome is distinct from 'unsent')
       order by p.created_at, p.id limit ?`,
      [from, to, after.at, after.id, perPage],
    );
    for (const { id, status, net_amount: amount } of rows.filter((row) => !seen.has(row.id))) {
      const transfer = await gateway.findTransfer(id, { ...(signal && { signal }) });
      // One that began on one day here and on the next there is compared with that day's records.
      if (transfer !== null) continue;
      const ours = { status, amount };
      differences.push({ resourceType: 'payout', subject: id, resourceId: id, reference: id, ours, theirs: null });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < perPage) return differences;
    after = { at: new Date(last.created_at), id: last.id };
  }
}
