import type { EntityManager } from '@mikro-orm/postgresql';
import { sealForOrder } from '../../partners/open-for-order.ts';
import {
  complainOfAccountNumber,
  complainOfBankAmount,
  getPayoutBank,
} from '../../people/bank-accounts/payout-bank.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { must } from '../../shared/assert.ts';
import { refuseField } from '../../shared/errors.ts';
import { refundIdFor } from '../../shared/ids.ts';
import { compareMoney, formatMoney, isWholeRupiah, type Money } from '../../shared/money.ts';
import type { KeyedRequest } from '../../shared/opening.ts';
import { type PayoutTexts, payoutTextsPlace } from '../payouts/payout.ts';
import { readPayoutHeadroom, refuseRefundBeyond } from '../payouts/payout-limits.ts';
import { createReservationTurns } from '../payouts/reserve-in-turn.ts';
import { findRefund } from './find-refunds.ts';
import type { RefundRequest, WholeRefund } from './present-refund.ts';
import { type Refundable, readRefundable, refuseBeyondPaid } from './read-refundable.ts';
import type { RefundOpening, RefundWorkflows } from './refund.ts';

const reserveInTurn = createReservationTurns();

interface RefundCreation {
  partnerId: string;
  paymentId: string;
  body: RefundRequest;
  idempotency: Pick<KeyedRequest, 'keyHash' | 'fingerprint'>;
  requestId: string;
}

/**
 * Creates a refund and waits until its money is reserved. Throws as `prepareRefund` and `reserveRefund` do, and
 * SERVICE_UNAVAILABLE on a time-out: for two minutes, a retry under the key joins a refund that may still start.
 */
export async function createRefund(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: RefundWorkflows },
  creation: RefundCreation & { idempotency: KeyedRequest },
): Promise<WholeRefund> {
  const { partnerId, idempotency } = creation;
  const refundId = refundIdFor(partnerId, idempotency.key);
  const find = (place: EntityManager) => findRefund(place, { partnerId, id: refundId });
  if (idempotency.resourceId !== null) return must(await find(em), 'a used idempotency key has a refund');
  return reserveInTurn(
    em,
    {
      resourceId: refundId,
      kind: 'payment_refund',
      claim: { partnerId, ...idempotency },
      stamp: idempotency.stamp,
      turnOf: partnerId,
      unavailable: 'The refund could not be reserved in time; try again under the same key',
    },
    {
      find,
      prepare: () => prepareRefund(em, sealer, refundId, creation),
      start: (opening, waitMs) => workflows.startPaymentRefund(refundId, opening, waitMs),
    },
  );
}

/**
 * Runs every check that can refuse a refund before its workflow starts; returns the workflow's input. Checks refundable
 * amount and balance early; the binding check is under the partner's lock. Throws REQUEST_INVALID_PAYLOAD,
 * FUNDS_REFUND_EXCEEDED, and as `readRefundable` and `refuseRefundBeyond` do.
 */
export async function prepareRefund(
  em: EntityManager,
  sealer: Sealer,
  refundId: string,
  { partnerId, paymentId, body, idempotency, requestId }: RefundCreation,
): Promise<Omit<RefundOpening, 'stamp'>> {
  const refundable = await readRefundable(em, { partnerId, paymentId });
  const asked = body.amount === undefined ? null : formatMoney(body.amount);
  if (asked !== null && !isWholeRupiah(asked)) refuseField('amount', 'must be a whole rupiah amount');
  const amount = asked ?? refundable.left;
  refuseBeyondPaid(refundable, amount);
  const refundOf = walletOf(refundable, amount, body);
  const bank = refundOf === null ? await requireBank(em, body, amount) : null;
  const headroom = await readPayoutHeadroom(em, partnerId);
  refuseRefundBeyond(headroom, { amount, byTransfer: bank !== null });
  const texts: PayoutTexts = {
    bank_account_number: bank?.accountNumber ?? '',
    beneficiary_name: bank === null ? null : (body.beneficiary_name ?? null),
    external_ref: null,
    reason: body.reason,
    metadata: body.metadata ?? null,
  };
  return {
    partnerId,
    paymentId,
    amount,
    refundOf,
    bankCode: bank?.code ?? null,
    textsSealed: await sealForOrder(sealer, payoutTextsPlace(refundId), refundId, texts),
    requestId,
    idempotency: { keyHash: idempotency.keyHash, fingerprint: idempotency.fingerprint },
  };
}

/**
 * The payment request whose wallet is refunded; null for a transfer. Once a refund to the wallet has been declined,
 * naming a bank account also selects a transfer.
 */
function walletOf(refundable: Refundable, amount: Money, body: RefundRequest): string | null {
  const namesBank = body.bank_code !== undefined || body.bank_account_number !== undefined;
  if (refundable.wallet_declined && namesBank) return null;
  const isWhole = compareMoney(amount, refundable.amount) === 0;
  const can = isWhole ? refundable.to_wallet : refundable.to_wallet_in_part;
  return can ? refundable.provider_payment_request_id : null;
}

/** The bank account of a refund by transfer. Throws REQUEST_INVALID_PAYLOAD, naming the field. */
async function requireBank(
  em: EntityManager,
  { bank_code: code, bank_account_number: accountNumber }: RefundRequest,
  amount: Money,
): Promise<{ code: string; accountNumber: string }> {
  const why = 'is required: this refund cannot go to the wallet that paid, so it is a transfer';
  if (code === undefined) return refuseField('bank_code', why);
  if (accountNumber === undefined) return refuseField('bank_account_number', why);
  const bank = await getPayoutBank(em, code);
  const ofNumber = complainOfAccountNumber(accountNumber, code, bank);
  if (ofNumber !== null) refuseField('bank_account_number', ofNumber);
  const ofAmount = complainOfBankAmount(amount, code, bank);
  if (ofAmount !== null) refuseField('amount', ofAmount);
  return { code, accountNumber };
}
