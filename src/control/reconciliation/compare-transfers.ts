import type { EntityManager } from '@mikro-orm/postgresql';
import type { PayoutStatus } from '../../money-out/payouts/payout.ts';
import type { Gateway, ProviderRecord } from '../../platform/gateway/gateway.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import { canonicalId, isUuid } from '../../shared/uuid.ts';
import { type FoundMissing, findMissing, type MissingPage, readCursor, soughtPerPage } from './missing-page.ts';
import type { Difference } from './reconciliation.ts';

interface PayoutRow {
  id: string;
  status: PayoutStatus;
  net_amount: Money;
  provider_transfer_id: string | null;
}

/** Whether the money is back, or never left. */
const isGone = (status: ProviderRecord['status']): boolean => status === 'failed' || status === 'reversed';

/**
 * Returns those of these transfers that failed or were returned and that two people have booked or that are open
 * differences (unknown or second transfers).
 */
export async function findBookedAndGone(
  em: EntityManager,
  records: readonly ProviderRecord[],
): Promise<ProviderRecord[]> {
  const gone = records.filter(({ status }) => isGone(status));
  const rows = await em.execute<{ id: string }[]>(
    `select provider_id as id from booked_transfers where decision_id is not null and provider_id = any(?::text[])
     union select subject from reconciliations where resource_type = 'payout' and subject = any(?::text[]) and state <> 'resolved'
       and kind in ('DOUBLE_TRANSFER', 'UNKNOWN_TRANSFER')`,
    Array(2).fill(textArray(gone.map(({ providerId }) => providerId))),
  );
  const ids = new Set(rows.map(({ id }) => id));
  return gone.filter(({ providerId }) => ids.has(providerId));
}

/**
 * Returns the differences between these transfers of a provider and our payouts. A payout has one transfer: another
 * live transfer under its reference is always a difference; a second or unknown transfer that failed or was returned is
 * not, nor is the outcome of a payout that failed here before it was sent.
 */
export async function compareTransfers(
  em: EntityManager,
  provider: string,
  records: readonly ProviderRecord[],
): Promise<Difference[]> {
  const ids = records.map(({ reference }) => reference).filter(isUuid);
  const rows = await em.execute<PayoutRow[]>(
    'select id, status, net_amount, provider_transfer_id from payouts where provider = ? and id = any(?::uuid[])',
    [provider, textArray(ids)],
  );
  const payouts = new Map(rows.map((row) => [row.id, row]));
  return records.flatMap((record): Difference[] => {
    const { providerId, reference, status, amount } = record;
    const payout = payouts.get(canonicalId(reference));
    const isFurther = payout?.provider_transfer_id != null && payout.provider_transfer_id !== providerId;
    if (isFurther || !payout ? isGone(status) : agrees(payout, { status, amount })) return [];
    const ours = payout === undefined ? null : { status: payout.status, amount: payout.net_amount };
    return [
      {
        resourceType: 'payout',
        subject: providerId,
        resourceId: payout?.id ?? null,
        reference,
        ours,
        theirs: { status, amount },
        isFurther,
      },
    ];
  });
}

const agrees = (
  { status, net_amount }: Pick<PayoutRow, 'status' | 'net_amount'>,
  theirs: Pick<ProviderRecord, 'status' | 'amount'>,
): boolean =>
  (status === theirs.status || (status === 'failed' && isGone(theirs.status))) &&
  compareMoney(net_amount, theirs.amount) === 0;

/**
 * Looks up at the provider a page of the payouts first sent in the period that are not among its records; returns those
 * that it does not have although they are pending or successful here, and those that it reports differently. A failed
 * payout needs no record. Throws ProviderUnknown.
 */
export async function findMissingTransfers(
  em: EntityManager,
  gateway: Gateway,
  { provider, day, from, to, after, signal }: MissingPage,
): Promise<FoundMissing> {
  const rows = await em.execute<(PayoutRow & { at: string; key: string; refund_of: string | null })[]>(
    `select p.id, p.id::text as key, p.status, p.net_amount, p.provider_transfer_id, p.refund_of, a.sent_at::text as at
     from payout_attempts a join payouts p on p.id = a.payout_id
     where p.provider = ? and a.sent_at >= ? and a.sent_at < ? and (a.sent_at, a.payout_id) > (?, ?) and p.status <> 'failed'
       and a.outcome is distinct from 'unsent'
       and not exists (select from payout_attempts b
         where b.payout_id = a.payout_id and b.number < a.number and b.outcome is distinct from 'unsent')
     order by a.sent_at, a.payout_id limit ?`,
    [provider, from, to, ...readCursor(after, from), soughtPerPage],
  );
  const { missing, next } = await findMissing(em, { provider, day, kind: 'transfer', rows });
  const differences: Difference[] = [];
  for (const { id, status, net_amount: amount, refund_of: refundOf, provider_transfer_id: known } of missing) {
    const transfer = await gateway.findTransfer(id, { refundOf, known, ...(signal && { signal }) });
    const theirs = transfer && {
      status: transfer.status === 'accepted' ? ('pending' as const) : transfer.status,
      amount: transfer.amount,
    };
    if (theirs !== null && agrees({ status, net_amount: amount }, theirs)) continue;
    const subject = transfer?.providerTransferId ?? id;
    differences.push({
      resourceType: 'payout',
      subject,
      resourceId: id,
      reference: id,
      ours: { status, amount },
      theirs,
    });
  }
  return { differences, next };
}
