import type { Money } from '../shared/money.ts';
import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/**
 * Pure facts about decisions of operators (docs/contract.md 11): what the provider's word does not prove is done by two people.
 * One that the workflow does not carry out is `refused`; one that came too late, or whose resource has moved, is `lapsed`.
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

/** A decision that is older than this lapses, in hours: one about a disbursement waits longer, as its owner does. */
export const decisionLivesHours = (kind: DecisionKind): number => (kind === 'disburse' ? 7 * 24 : 24);

export const decisionKinds = [
  'settle_payout',
  'settle_receipt',
  'explain_difference',
  'book_external',
  'disburse',
] as const;
export type DecisionKind = (typeof decisionKinds)[number];

/** Kinds that operators propose; a disbursement's decision is made with it. */
export const proposedKinds = decisionKinds.filter((kind): kind is ProposedKind => kind !== 'disburse');
export type ProposedKind = Exclude<DecisionKind, 'disburse'>;

/** What may be proposed, each kind with what it is about. */
export type Proposal =
  | { kind: 'settle_payout'; payout_id: string; outcome: 'succeeded' | 'failed' }
  /** `account_id` with `credit` only. */
  | { kind: 'settle_receipt'; receipt_id: string; action: 'credit' | 'refund'; account_id?: string | undefined }
  | { kind: 'explain_difference'; reconciliation_id: string }
  /** IDR, at most four decimals: above 0 what the platform brought to the provider, below 0 what it took away. */
  | { kind: 'book_external'; amount: Money; reference: string };
export type ProposalOf<Kind extends ProposedKind> = Extract<Proposal, { kind: Kind }>;

/** A decision that is handed to the workflow of what it is about. */
export interface DecisionInHand {
  id: string;
  /** Whether a second person has approved it; without that it takes the provider's final word. */
  isApproved: boolean;
  /** Whether it was handed over before, and answered, and was not carried out. */
  isAnew?: boolean;
}

/** What both sides say of what is to be decided: references and amounts, never personal data. */
export interface Evidence {
  provider: object | null;
  books: object;
}

/** The longest reference of a movement at the provider, in characters. */
export const longestExternalReference = 64;

/** The shortest note of a decision, in characters. */
export const shortestNote = 3;
