import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import { refuseUnlessPlatformUser } from '../identity/find-user.ts';
import { Account } from '../ledger/account.entity.ts';
import type { AccountKind } from '../ledger/account.ts';
import { refuse } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { isNote, notANote } from '../shared/note.ts';
import { isFinal } from '../shared/status-law.ts';
import { isUuid } from '../shared/uuid.ts';
import { Receipt } from './receipt.entity.ts';
import { type ReceiptSettlement, type ReceiptState, receiptLaw } from './receipt.ts';

/**
 * Accounts that an operator may credit from suspense: those whose owner can move the money again, by paying, by a
 * transfer or by a payout. Of what is in a saving goal or a product nothing is taken out; the open pool pays out
 * donations, and a circle contributions, which late money is not; what is pending or reserved of a partner belongs to its
 * payments and payouts. Late money for one of these goes to an account of the person or organization that paid it.
 */
const creditableKinds: readonly AccountKind[] = ['user', 'organization', 'partner_available'];

/**
 * Ends a case of suspense, once: `credit` moves the money to an account, `refund` records that it was given back outside,
 * at the provider. Refuses an unknown account or operator, an account whose owner could not move the money again, and
 * what is no note, with REQUEST_INVALID.
 */
export function settleReceipt(
  em: EntityManager,
  { receiptId, settlement }: { receiptId: string; settlement: ReceiptSettlement },
): Promise<ReceiptState> {
  const { action, account_id, note, who } = settlement;
  return em.transactional(async (tx) => {
    const receipt = await tx.findOneOrFail(Receipt, { id: receiptId }, { refresh: true });
    if (isFinal(receiptLaw, receipt.state)) return receipt.state;
    if (!isNote(note)) refuse('REQUEST_INVALID', notANote);
    await refuseUnlessPlatformUser(tx, who);
    const accountId = action === 'refund' ? null : await creditable(tx, account_id);
    const journalId = newId();
    const [{ settled }] = await tx.execute<[{ settled: boolean }]>('select settle_receipt(?, ?, ?, ?, ?) as settled', [
      journalId,
      receiptId,
      accountId,
      who,
      note,
    ]);
    await tx.refresh(receipt);
    // A twin was first.
    if (!settled) return receipt.state;
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      impact: 'HIGH',
      resourceType: 'receipt',
      resourceId: receipt.id,
      actorId: who,
      requestId: null,
      data: { action, account_id: accountId, note, amount: receipt.amount, journal_id: journalId },
    });
    return receipt.state;
  });
}

async function creditable(em: EntityManager, accountId: string | undefined): Promise<string> {
  const account = accountId !== undefined && isUuid(accountId) ? await em.findOne(Account, { id: accountId }) : null;
  if (account === null) refuse('REQUEST_INVALID', 'no such account', { field: 'account_id' });
  if (!creditableKinds.includes(account.kind)) {
    const possible = creditableKinds.join(', ');
    refuse(
      'REQUEST_INVALID',
      `an account of kind ${account.kind}, whose owner cannot move what is credited there; possible are ${possible}`,
      { field: 'account_id' },
    );
  }
  return account.id;
}
