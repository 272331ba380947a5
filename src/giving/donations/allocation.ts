import type { Money } from '../../shared/money.ts';
import type { OpeningStamp } from '../../shared/opening.ts';

/** Maximum donations per allocation (docs/contract.md 5). */
export const allocationLimit = 10_000;

/** Why a donation cannot be allocated. */
export const donationRefusals = ['unknown', 'not_open', 'not_received', 'allocated'] as const;
export type DonationRefusal = (typeof donationRefusals)[number];

/** The texts of the reasons, for messages and the preview. */
export const donationRefusalTexts: Record<DonationRefusal, string> = {
  unknown: 'no such donation',
  not_open: 'not an open donation',
  not_received: 'not received, or refunded',
  allocated: 'already allocated',
};

/** The input of an allocation's workflow. */
export interface AllocationRequest {
  batchId: string;
  /**
   * Identifies one request: a retried step gets its own result again; another request sees that the batch is allocated.
   */
  attemptId: string;
  causeId: string;
  /** The ids of the donations, packed. */
  donations: PackedIds;
  requestedBy: string;
  requestId: string;
  stamp: OpeningStamp;
}

export interface Allocated {
  outcome: 'allocated';
  attemptId: string;
  batchId: string;
  causeId: string;
  count: number;
  /** IDR, scale 4. */
  totalAmount: Money;
}

export interface AllocationRefused {
  outcome: 'refused';
  /** Why the cause accepts no donations (`refusalOfDonations`), or `unknown`; null if it does. */
  cause: string | null;
  donations: Partial<Record<DonationRefusal, PackedIds>>;
}

/** The request was too old; nothing was changed. */
export interface AllocationLapsed {
  outcome: 'lapsed';
}

export type AllocationOutcome = Allocated | AllocationRefused | AllocationLapsed;

/** The port to the workflows of allocations; implemented in `temporal/`, injected. */
export interface AllocationWorkflows {
  /**
   * Starts the workflow of an allocation, or joins the running one of the same batch, and waits at most `waitMs` for
   * its outcome. Returns null on a timeout. Throws SERVICE_UNAVAILABLE if Temporal is unavailable.
   */
  runDonationAllocation(request: AllocationRequest, waitMs: number): Promise<AllocationOutcome | null>;
}

/** UUIDs as base64 of their bytes, which keeps a full batch below the size at which Temporal warns (256 kB). */
export type PackedIds = string;

/** Packs UUIDs. */
export const packIds = (ids: readonly string[]): PackedIds =>
  Buffer.from(ids.join('').replaceAll('-', ''), 'hex').toString('base64');

/** Unpacks UUIDs, in their order. */
export function unpackIds(packed: PackedIds): string[] {
  const hex = Buffer.from(packed, 'base64').toString('hex');
  return (hex.match(/.{32}/g) ?? []).map((id) => id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
}
