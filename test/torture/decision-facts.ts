/** What one person of the platform was told about a decision: the answer's status, and the decision's; null for no answer. */
export interface ToldFact {
  by: string;
  status: number | null;
  told: string | null;
}

/** What one person of the platform asked for about a disbursement, and what they were told. */
export interface VerdictFact extends ToldFact {
  withdrawalId: string;
  verdict: 'approve' | 'reject';
}

/** A decision as the books have it: what it is about, and whose it is. */
export interface DecisionRow {
  id: string;
  withdrawalId: string | null;
  proposedBy: string;
  /** One after the other. */
  approvedBy: string[];
  rejectedBy: string | null;
}

/** What one operator proposed and another was to approve. */
export interface Decided {
  decisionId: string;
  proposedBy: string;
  /** Whoever tried to approve it. */
  approvals: ToldFact[];
}

/** A decision about money in suspense. */
export interface DecisionFact extends Decided {
  receiptId: string;
  action: 'credit' | 'refund';
  accountId: string | null;
}

/** A decision to give a donation back. */
export interface RefundDecisionFact extends Decided {
  donationId: string;
}
