import type { Money } from '../../shared/money.ts';
import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** How a payout may be ended by hand. */
export const payoutOutcomes = ['succeeded', 'failed'] as const;
export type PayoutOutcome = (typeof payoutOutcomes)[number];

/**
 * Pure facts about operators' decisions (docs/contract.md 11): what the provider's status does not prove takes two
 * people. One that cannot be carried out is `refused`; one too late, or whose subject has changed, `lapsed`.
 */
export const decisionLaw = statusLaw({
  initial: ['pending'],
  transitions: {
    pending: ['carried_out', 'rejected', 'lapsed', 'refused'],
    carried_out: [],
    rejected: [],
    lapsed: [],
    refused: [],
  },
});
export type DecisionStatus = StatusOf<typeof decisionLaw>;

/** The age in hours at which a decision lapses; one about a disbursement waits longer, as its owner waits too. */
export const decisionLivesHours = (kind: DecisionKind): number => (kind === 'disburse' ? 7 * 24 : 24);

export const decisionKinds = [
  'settle_payout',
  'settle_receipt',
  'explain_difference',
  'book_external',
  'disburse',
  'refund_donation',
  'erase_person',
  'book_transfer',
  'admit_approver',
] as const;
export type DecisionKind = (typeof decisionKinds)[number];

/** Kinds that operators propose; the decision of a disbursement is created with it. */
export const proposedKinds = decisionKinds.filter((kind): kind is ProposedKind => kind !== 'disburse');
export type ProposedKind = Exclude<DecisionKind, 'disburse'>;

/** What may be proposed: each kind with its subject. */
export type Proposal =
  | { kind: 'settle_payout'; payout_id: string; outcome: 'succeeded' | 'failed' }
  /** `account_id` with `credit` only. */
  | { kind: 'settle_receipt'; receipt_id: string; action: 'credit' | 'refund'; account_id?: string | undefined }
  | { kind: 'explain_difference'; reconciliation_id: string }
  /**
   * IDR, at most four decimals: above 0 what the platform paid in at the provider, below 0 what it took out; with
   * `account_id` what it took out to pay it to the person who had this account and was erased.
   */
  | { kind: 'book_external'; amount: Money; reference: string; account_id?: string | undefined }
  | { kind: 'refund_donation'; donation_id: string }
  | { kind: 'erase_person'; user_id: string }
  /** Somebody with the permission, who from then on may use it. */
  | { kind: 'admit_approver'; user_id: string }
  /** A payout that failed here and left; or our reference, or the provider's id, of a transfer beyond ours. */
  | { kind: 'book_transfer'; payout_id?: string | undefined; provider_reference?: string | undefined };
export type ProposalOf<Kind extends ProposedKind> = Extract<Proposal, { kind: Kind }>;

/** What provider and books say about the subject: references and amounts, never personal data. */
export interface Evidence {
  provider: object | null;
  books: object;
}

/** The maximum length of a reference of a movement at the provider, in characters. */
export const longestExternalReference = 64;

/** The minimum length of a decision's note, in characters. */
export const shortestNote = 3;
