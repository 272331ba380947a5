/** The columns that a refund adds to its payout. */
export interface RefundFact {
  id: string;
  /** The partner's payment that it refunds. */
  paymentId: string;
}

export interface DonationFact {
  id: string;
  /** IDR, scale 4. */
  amount: string;
  status: string;
  /** Null while the donation is in the open pool. */
  causeId: string | null;
  /** The account that a refund credits, and the account that holds the money, as known before the run. */
  backTo: string | null;
  heldBy: string;
}
