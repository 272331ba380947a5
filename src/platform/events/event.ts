/** Types and retention of business events (docs/contract.md 7). */
export const eventImpacts = ['LOW', 'MEDIUM', 'HIGH'] as const;
export type EventImpact = (typeof eventImpacts)[number];

/** Read events are retained for this many days; all others forever. */
export const readEventsKeptDays = 90;

export interface NewEvent {
  /** `RESOURCE_CREATED`, `RESOURCE_UPDATED`, ... or a domain event such as `CONTRIBUTION_MADE`. */
  event: string;
  /** MEDIUM by default; HIGH for example for role creation, deletions and approvals. */
  impact?: EventImpact;
  resourceType: string;
  /** Null for a read that does not concern a single resource. */
  resourceId: string | null;
  actorId: string | null;
  requestId: string | null;
  /** References only, never personal data. */
  data?: object;
}
