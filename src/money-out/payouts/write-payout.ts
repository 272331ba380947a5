import type { EntityManager } from '@mikro-orm/postgresql';
import { postJournal } from '../../ledger/post-journal.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { overdueGraceMs } from '../../shared/asking-intervals.ts';
import { must } from '../../shared/assert.ts';
import { journalKeys } from '../../shared/ids.ts';
import { addMoney, negateMoney } from '../../shared/money.ts';
import { Payout } from './payout.entity.ts';
import { type PayoutKind, type PayoutOpening, payoutFamilyOf, resourceTypeOf } from './payout.ts';

/** The initial fields of a payout; amounts are IDR, scale 4. */
export interface NewPayout
  extends Pick<PayoutOpening, 'feeMode' | 'amount' | 'fee' | 'net' | 'providerFee' | 'textsSealed' | 'requestId'> {
  id: string;
  /** Null for a refund to the wallet in `refundOf`. */
  bankCode: string | null;
  refundOf?: string | null;
  kind: PayoutKind;
  sourceAccountId: string;
  reservedAccountId: string;
  partnerId: string | null;
  reference: string;
  externalRef: string | null;
  /** The database's clock. */
  at: Date;
}

/** Inserts a payout, pending and without a reservation, in the caller's transaction. */
export async function writePayout(tx: EntityManager, facts: NewPayout): Promise<Payout> {
  const payout = tx.create(Payout, {
    id: facts.id,
    kind: facts.kind,
    source_account_id: facts.sourceAccountId,
    reserved_account_id: facts.reservedAccountId,
    partner_id: facts.partnerId,
    reference: facts.reference,
    external_ref: facts.externalRef,
    fee_mode: facts.feeMode,
    amount: facts.amount,
    fee: facts.fee,
    net_amount: facts.net,
    provider_fee: facts.providerFee,
    bank_code: facts.bankCode,
    refund_of: facts.refundOf ?? null,
    texts_sealed: facts.textsSealed,
    status: 'pending',
    look_again_at: new Date(facts.at.getTime() + overdueGraceMs),
    request_id: facts.requestId,
    created_at: facts.at,
    updated_at: facts.at,
  });
  await tx.flush();
  return payout;
}

/**
 * Reserves the money of a payout that the same transaction has inserted, and records the event. Returns the journal's
 * id. Throws INSUFFICIENT_BALANCE.
 */
export async function reserveMoney(
  tx: EntityManager,
  payout: Payout,
  { actorId, data }: { actorId: string | null; data: object },
): Promise<string> {
  const { id, kind, source_account_id, reserved_account_id } = payout;
  const family = payoutFamilyOf(kind);
  const reserved = addMoney(payout.net_amount, payout.fee);
  const journalId = must(
    await postJournal(tx, {
      kind: `${family}.reserved`,
      businessKey: journalKeys.payout(family, id, 'reserved'),
      postings: [
        { accountId: source_account_id, amount: negateMoney(reserved) },
        { accountId: reserved_account_id, amount: reserved },
      ],
    }),
    'a new payout has no reservation',
  );
  await recordEvent(tx, {
    event: 'RESOURCE_CREATED',
    resourceType: resourceTypeOf[kind],
    resourceId: id,
    actorId,
    requestId: payout.request_id ?? null,
    data: { ...data, journal_id: journalId },
  });
  return journalId;
}
