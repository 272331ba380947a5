import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateway, TransferState } from '../../platform/gateway/gateway.ts';
import { westernIndonesiaDay } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import type { Payout } from './payout.entity.ts';

/** Each further live transfer under a payout's reference is a difference of its day: we asked for one. */
export async function noteFurtherTransfers(
  tx: EntityManager,
  { id, status, net_amount: amount }: Pick<Payout, 'id' | 'status' | 'net_amount'>,
  further: readonly TransferState[],
): Promise<void> {
  for (const transfer of further) await note(tx, transfer, { id, ours: { status, amount } });
}

/**
 * Asks the provider for a transfer whose reference nobody here knows, and writes it down as a difference of its day: a
 * callback alone proves nothing. Throws ProviderUnknown.
 */
export async function noteUnknownTransfer(
  em: EntityManager,
  gateway: Gateway,
  { reference, refundOf }: { reference: string; refundOf: string | null },
): Promise<void> {
  const found = await gateway.findTransfer(reference, { refundOf });
  if (found === null) return;
  const live = [found, ...found.further].filter(({ status }) => status !== 'failed');
  await em.transactional(async (tx) => {
    for (const transfer of live) await note(tx, transfer, null);
  });
}

/** The daily comparison finds it again, and says the same of it. */
async function note(
  tx: EntityManager,
  { providerTransferId, reference, amount, status, createdAt }: TransferState,
  payout: { id: string; ours: { status: string; amount: string } } | null,
): Promise<void> {
  const theirs = { status: status === 'accepted' ? 'pending' : status, amount };
  await tx.execute("select keep_difference(?, ?, 'payout', ?, ?, ?, ?::jsonb, ?::jsonb, ?)", [
    ...[newId(), westernIndonesiaDay(createdAt ?? new Date()), providerTransferId, payout?.id ?? null, reference],
    ...[payout && JSON.stringify(payout.ours), JSON.stringify(theirs), payout !== null],
  ]);
}
