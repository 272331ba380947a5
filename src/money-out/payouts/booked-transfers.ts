import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../../shared/ids.ts';

/**
 * Takes back what two people booked of a transfer, if they did: it turned out to be spent by a payout, or to have failed
 * or come back. The provider's cost stays booked where the bank returned it (`keepsCost`). Locks the balances of the
 * payout that it is of, which may end next.
 */
export async function takeBackBooking(
  tx: EntityManager,
  providerTransferId: string,
  { keepsCost }: { keepsCost: boolean },
): Promise<void> {
  await tx.execute('select unbook_transfer(?, ?, ?)', [newId(), providerTransferId, keepsCost]);
}
