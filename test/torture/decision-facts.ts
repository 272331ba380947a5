/** The answer to one platform user about a decision: its status, and the decision's; null for no answer. */
export interface ToldFact {
  by: string;
  status: number | null;
  told: string | null;
}

/** One platform user's request about a disbursement, and the answer. */
export interface VerdictFact extends ToldFact {
  withdrawalId: string;
  verdict: 'approve' | 'reject';
}

/** A decision as recorded in the books. */
export interface DecisionRow {
  id: string;
  withdrawalId: string | null;
  proposedBy: string;
  /** The approvers, in order. */
  approvedBy: string[];
  rejectedBy: string | null;
}

/** One operator's proposal that another was to approve. */
export interface Decided {
  decisionId: string;
  proposedBy: string;
  /** Everyone who tried to approve it. */
  approvals: ToldFact[];
}

/** A decision about money in suspense. */
export interface DecisionFact extends Decided {
  receiptId: string;
  action: 'credit' | 'refund';
  accountId: string | null;
}

/** A decision to refund a donation. */
export interface RefundDecisionFact extends Decided {
  donationId: string;
}
