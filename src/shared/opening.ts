/** Pure facts about openings: the first step of each resource that a workflow owns. */
export const openingKinds = [
  'payout',
  'withdrawal',
  'payment_refund',
  'payment_order',
  'partner_payment',
  'partner_instrument',
  'payout_batch',
  'donation_subscription',
  'donation_allocation',
] as const;
export type OpeningKind = (typeof openingKinds)[number];

/**
 * The stamp of a request that opens a resource. Numbers order requests and refusals without trusting a clock; the
 * instant gives the request's age.
 */
export interface OpeningStamp {
  /** A whole number, greater than that of every request and refusal before. */
  number: string;
  /** The database's clock, ISO 8601 with microseconds. */
  askedAt: string;
  /** How long after that the request may still be carried out, in milliseconds; `budgets.opening.lives` when absent. */
  livesMs?: number;
}

/** A partner's request under an idempotency key, as it arrived. */
export interface KeyedRequest {
  key: string;
  keyHash: string;
  fingerprint: string;
  /** The resource already created under the key, if any: then this is a retry. */
  resourceId: string | null;
  stamp: OpeningStamp;
}

/** An idempotency key of a user or a partner, and the fingerprint of the request under it. */
export type KeyClaim = { keyHash: string; fingerprint: string } & ({ userId: string } | { partnerId: string });

/** The claim of a user's request, if it has a key. */
export const claimOfUser = ({
  userId,
  idempotency,
}: {
  userId: string;
  idempotency: Pick<KeyClaim, 'keyHash' | 'fingerprint'> | null;
}): Extract<KeyClaim, { userId: string }> | null => idempotency && { userId, ...idempotency };

/** The resource to be created, and the idempotency key of its request, if any. */
export interface OpeningPlace {
  resourceId: string;
  kind: OpeningKind;
  claim?: KeyClaim | null;
}
