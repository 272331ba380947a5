import { v4, v5, v7 } from 'uuid';

/**
 * All derived ids: owner and idempotency key -> resource id -> workflow id -> journal key -> the provider's idempotency
 * key (docs/contract.md 9).
 */
const namespace = 'b3a9c8a4-6a0d-4a51-9d1a-0c5d8f3f5a10';
const derive = (name: string): string => v5(name, namespace);

// Fetch random bytes for many ids at once: a system call costs ten times as much as the rest.
const randomBytes = new Uint8Array(16 * 256);
let used = randomBytes.length;
function takeRandom(): Uint8Array {
  if (used === randomBytes.length) {
    crypto.getRandomValues(randomBytes);
    used = 0;
  }
  used += 16;
  return randomBytes.subarray(used - 16, used);
}

// RFC 9562, method 1: the sequence counts up within a millisecond.
let msecs = 0;
let seq = 0;

/** A new id, greater than earlier ones (UUID v7), so that its row is appended to its indexes. */
export function newId(): string {
  const random = takeRandom();
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    seq = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1;
  } else {
    seq = (seq + 1) >>> 0;
    if (seq === 0) msecs += 1;
  }
  return v7({ random, msecs, seq });
}

/** A new id that reveals no time (UUID v4), which the contract requires for addresses. */
export const newAddressId = (): string => v4();

/** The id of a payment order: from its owner and idempotency key, or a new one without a key. */
export const paymentOrderIdFor = (userId: string, idempotencyKey: string | undefined): string =>
  idempotencyKey === undefined ? newId() : derive(`payment-order/${userId}/${idempotencyKey}`);

/** The id of a balance payment and its transaction: from its payer and idempotency key, or a new one without a key. */
export const balancePaymentIdFor = (userId: string, idempotencyKey: string | undefined): string =>
  idempotencyKey === undefined ? newId() : derive(`balance-payment/${userId}/${idempotencyKey}`);

/** The id of the transaction that pays a member's contribution to a turn without a request; it is paid once. */
export const circlePaymentIdFor = (memberId: string, turn: number): string =>
  derive(`saving-circle-member/${memberId}/${turn}`);

/** The id of a partner's payment, from the partner and its idempotency key. */
export const partnerPaymentIdFor = (partnerId: string, idempotencyKey: string): string =>
  derive(`partner-payment/${partnerId}/${idempotencyKey}`);

/** The id of the row that attaches a partner's idempotency key, by its hash, to the created resource. */
export const partnerKeyRowIdFor = (partnerId: string, keyHash: string): string =>
  derive(`partner-key/${partnerId}/${keyHash}`);

/** The id of a partner's payout, from the partner and its idempotency key. */
export const payoutIdFor = (partnerId: string, idempotencyKey: string): string =>
  derive(`partner-payout/${partnerId}/${idempotencyKey}`);

/** The id of a reusable instrument of a partner, from the partner and its idempotency key. */
export const partnerInstrumentIdFor = (partnerId: string, idempotencyKey: string): string =>
  derive(`partner-instrument/${partnerId}/${idempotencyKey}`);

/** The id of a partner's payment to a reusable instrument, from the provider's id of the payment. */
export const instrumentPaymentIdFor = (providerPaymentId: string): string =>
  derive(`instrument-payment/${providerPaymentId}`);

/** The id of a batch of payouts: from its maker and idempotency key, or a new one without a key. */
export const payoutBatchIdFor = (makerId: string, idempotencyKey: string | undefined): string =>
  idempotencyKey === undefined ? newId() : derive(`payout-batch/${makerId}/${idempotencyKey}`);

/** The id of the payout that a batch item becomes, by its place in the batch. */
export const batchPayoutIdFor = (batchId: string, place: number): string => derive(`payout-batch/${batchId}/${place}`);

/** The id of a refund of a partner's payment, from the partner and its idempotency key. */
export const refundIdFor = (partnerId: string, idempotencyKey: string): string =>
  derive(`payment-refund/${partnerId}/${idempotencyKey}`);

/** The id of a withdrawal: from its requester and idempotency key, or a new one without a key. */
export const withdrawalIdFor = (userId: string, idempotencyKey: string | undefined): string =>
  idempotencyKey === undefined ? newId() : derive(`withdrawal/${userId}/${idempotencyKey}`);

/** The id of an allocation, from the cause and the donations: the same batch is the same workflow and row. */
export const allocationBatchIdFor = (causeId: string, donationIds: readonly string[]): string =>
  derive(`donation-allocation/${causeId}/${donationIds.toSorted().join(',')}`);

/** The id of a subscription: from its donor and idempotency key, or a new one without a key. */
export const subscriptionIdFor = (userId: string, idempotencyKey: string | undefined): string =>
  idempotencyKey === undefined ? newId() : derive(`donation-subscription/${userId}/${idempotencyKey}`);

/** The id of the transaction that pays one period of a subscription: each period is paid once. */
export const subscriptionPaymentIdFor = (subscriptionId: string, period: number): string =>
  derive(`donation-subscription/${subscriptionId}/${period}`);

/** The id of a receipt (money that reached us), from the provider's id of the payment. */
export const receiptIdFor = (providerPaymentId: string): string => derive(`receipt/${providerPaymentId}`);

export { workflowIds } from './workflow-ids.ts';

/** Business keys of journals, unique in the database: a repeated step posts once. */
export const journalKeys = {
  orderSettled: (orderId: string): string => `payment-order/${orderId}/settled`,
  balancePayment: (transactionId: string): string => `balance-payment/${transactionId}`,
  partnerPaymentSettled: (paymentId: string): string => `partner-payment/${paymentId}/settled`,
  partnerPaymentReleased: (paymentId: string): string => `partner-payment/${paymentId}/released`,
  /** A step of a payout, by the family of its kind. */
  payout: (family: string, payoutId: string, step: 'reserved' | 'spent' | 'returned' | 'reversed'): string =>
    `${family}/${payoutId}/${step}`,
  circlePot: (circleId: string, turn: number): string => `saving-circle/${circleId}/turn/${turn}/pot`,
  circleSettled: (circleId: string): string => `saving-circle/${circleId}/settlement`,
  contributionRefunded: (contributionId: string): string => `saving-circle-contribution/${contributionId}/refunded`,
  donationRefunded: (donationId: string): string => `donation/${donationId}/refunded`,
  donationAllocated: (batchId: string): string => `donation-allocation/${batchId}`,
  receiptSuspended: (receiptId: string): string => `receipt/${receiptId}/suspense`,
  receiptSettled: (receiptId: string): string => `receipt/${receiptId}/settled`,
  platformExternal: (reference: string): string => `platform-external/${reference}`,
} as const;

const referencePrefixes = { partner_payout: 'PO', withdrawal: 'WD', payment_refund: 'RF' };

/**
 * The platform's own reference of a payout, for people; the provider gets the id itself. Taken from the end of the id,
 * because ids of one millisecond start alike.
 */
export const payoutReferenceOf = (id: string, kind: keyof typeof referencePrefixes = 'partner_payout'): string =>
  `${referencePrefixes[kind]}-${id.replaceAll('-', '').slice(-20).toUpperCase()}`;
