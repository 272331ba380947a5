import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** How a payout may be settled by hand. */
export const payoutOutcomes = ['succeeded', 'failed'] as const;
export type PayoutOutcome = (typeof payoutOutcomes)[number];

/** Decisions (docs/contract.md 11): `refused` if they cannot be carried out, `lapsed` if void by age or subject. */
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

/** Hours until a decision lapses; longer for a disbursement, as its owner cannot repeat it. */
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

/** Kinds that operators propose; a disbursement's decision is created with it. */
export const proposedKinds = decisionKinds.filter((kind): kind is ProposedKind => kind !== 'disburse');
export type ProposedKind = Exclude<DecisionKind, 'disburse'>;

/** Evidence about the subject from provider and books: references and amounts, never personal data. */
export interface Evidence {
  provider: object | null;
  books: object;
}
