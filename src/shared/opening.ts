/** Kinds and stamps of openings: the first step of each resource that a workflow owns. */
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
 * The stamp of a request that opens a resource. The number orders requests and refusals without trusting a clock; the
 * time gives the request's age.
 */
export interface OpeningStamp {
  /** A whole number, greater than that of every earlier request and refusal. */
  number: string;
  /** The database's clock, ISO 8601 with microseconds. */
  askedAt: string;
  /** How many milliseconds after that the request may still be carried out; default `budgets.opening.lives`. */
  livesMs?: number;
}

/** A partner's request under an idempotency key, as received. */
export interface KeyedRequest {
  key: string;
  keyHash: string;
  fingerprint: string;
  /** The resource already created under the key, if any; the request is then a retry. */
  resourceId: string | null;
  stamp: OpeningStamp;
}

/** An idempotency key of a user or a partner, and the fingerprint of the request under it. */
export type KeyClaim = { keyHash: string; fingerprint: string } & ({ userId: string } | { partnerId: string });

/** The claim of a user's request; null without a key. */
export const claimOfUser = ({
  userId,
  idempotency,
}: {
  userId: string;
  idempotency: Pick<KeyClaim, 'keyHash' | 'fingerprint'> | null;
}): Extract<KeyClaim, { userId: string }> | null => idempotency && { userId, ...idempotency };

/** The resource to create, and the idempotency key of its request, if any. */
export interface OpeningPlace {
  resourceId: string;
  kind: OpeningKind;
  claim?: KeyClaim | null;
}
