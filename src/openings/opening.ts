/** Pure facts about openings: the first step of each resource that a workflow looks after. */
export const openingKinds = [
  'payout',
  'withdrawal',
  'payment_order',
  'partner_payment',
  'saving_circle',
  'donation_subscription',
  'donation_allocation',
] as const;
export type OpeningKind = (typeof openingKinds)[number];

/**
 * What a request that opens a resource is stamped with. Numbers order requests and refusals, so that no clock has to be
 * believed; the instant says how old the request is.
 */
export interface OpeningStamp {
  /** A whole number, greater than that of every request and refusal before. */
  number: string;
  /** The database's clock, ISO 8601 with microseconds. */
  askedAt: string;
}

/** What an opening is about. */
export interface OpeningPlace {
  resourceId: string;
  kind: OpeningKind;
}

/** Of a request that was made before requests were stamped: it came before all others, and has no age. */
export const unstamped: { number: string; askedAt: null } = { number: '0', askedAt: null };
