import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Gateways, TransferState } from '../../platform/gateway/gateway.ts';
import { westernIndonesiaDay } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import type { Payout } from './payout.entity.ts';

/** Whether the money has reached the payee or is on its way. */
const isLive = ({ status }: TransferState): boolean => status === 'accepted' || status === 'succeeded';

/** Records each further live transfer under a payout's reference as a difference of its day: we requested only one. */
export async function noteFurtherTransfers(
  tx: EntityManager,
  { id, status, net_amount: amount, provider }: Pick<Payout, 'id' | 'status' | 'net_amount' | 'provider'>,
  further: readonly TransferState[],
): Promise<void> {
  await noteEach(tx, provider, further, { id, ours: { status, amount } });
}

/**
 * Asks the provider for a transfer with an unknown reference, and records it as a difference of its day, because a
 * callback alone proves nothing. Throws ProviderUnknown.
 */
export async function noteUnknownTransfer(
  em: EntityManager,
  gateways: Gateways,
  { provider, reference, refundOf }: { provider: string; reference: string; refundOf: string | null },
): Promise<void> {
  const found = await gateways.of(provider).findTransfer(reference, { refundOf });
  if (found === null) return;
  await em.transactional((tx) => noteEach(tx, provider, [found, ...found.further], null));
}

async function noteEach(
  tx: EntityManager,
  provider: string,
  transfers: readonly TransferState[],
  payout: Ours,
): Promise<void> {
  for (const transfer of transfers) {
    if (isLive(transfer)) await note(tx, provider, transfer, payout);
    else await noteGone(tx, { providerId: transfer.providerTransferId, status: transfer.status });
  }
}

/**
 * For a transfer that failed or that the bank returned: reverses what two people booked for it, and resolves its
 * UNKNOWN_TRANSFER or DOUBLE_TRANSFER difference. If it was the refund of a receipt, opens a difference, because the
 * payer did not get the money back.
 */
export async function noteGone(
  tx: EntityManager,
  { providerId, status }: { providerId: string; status: string },
): Promise<void> {
  if (status !== 'failed' && status !== 'reversed') return;
  // The provider keeps its fee for a transfer that the bank returned.
  await tx.execute('select unbook_transfer(?, ?, ?)', [newId(), providerId, status === 'reversed']);
  const resolved = await tx.execute<{ id: string; day: string }[]>(
    `update reconciliations set state = 'resolved', updated_at = now()
     where resource_type = 'payout' and subject = ? and state <> 'resolved' and kind in ('DOUBLE_TRANSFER', 'UNKNOWN_TRANSFER')
     returning id, day::text as day`,
    [providerId],
  );
  await tx.execute(
    `select keep_difference(?, r.provider, r.day, 'payout', r.subject, null, r.reference,
       jsonb_build_object('status', 'refunded', 'amount', r.theirs ->> 'amount'),
       jsonb_set(r.theirs, '{status}', to_jsonb(?::text)), false)
     from booked_transfers b join decisions d on d.id = b.decision_id and d.kind = 'settle_receipt'
     join reconciliations r on r.resource_type = 'payout' and r.subject = b.provider_id
     where b.provider_id = ? order by r.day desc limit 1`,
    [newId(), status, providerId],
  );
  for (const { id, day } of resolved) {
    await recordEvent(tx, {
      event: 'RECONCILIATION_RESOLVED',
      resourceType: 'reconciliation',
      resourceId: id,
      actorId: null,
      requestId: null,
      data: { day },
    });
  }
}

/**
 * Whether transfers of a batch that needs approval have left: a restored database lacks its approval, and the transfers
 * are differences, which people may have booked. Approving the batch again books them to the partner.
 */
export async function hasBatchLeft(em: EntityManager, batchId: string): Promise<boolean> {
  const found = await em.execute<unknown[]>(
    `select 1 from reconciliations r
     where r.kind = 'UNKNOWN_TRANSFER' and (r.state <> 'resolved' or is_transfer_known(r.subject))
       and r.reference in (select i.id::text from payout_batch_items i where i.batch_id = ?) limit 1`,
    [batchId],
  );
  return found.length > 0;
}

type Ours = { id: string; ours: { status: string; amount: string } } | null;

/** Records a difference; the daily comparison finds it again with the same result. */
async function note(
  tx: EntityManager,
  provider: string,
  { providerTransferId, reference, amount, status, createdAt }: TransferState,
  payout: Ours,
): Promise<void> {
  const theirs = { status: status === 'accepted' ? 'pending' : status, amount };
  await tx.execute("select keep_difference(?, ?, ?, 'payout', ?, ?, ?, ?::jsonb, ?::jsonb, ?)", [
    ...[newId(), provider, westernIndonesiaDay(createdAt ?? new Date())],
    ...[providerTransferId, payout?.id ?? null, reference],
    ...[payout && JSON.stringify(payout.ours), JSON.stringify(theirs), payout !== null],
  ]);
}
