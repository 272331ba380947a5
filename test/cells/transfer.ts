/** A transfer from an account of one cell to an account of the other; only ids and an amount, as in every workflow. */
export interface Transfer {
  id: string;
  fromAccountId: string;
  toAccountId: string;
  /** IDR, scale 4. */
  amount: string;
}

export type Verdict = 'accepted' | 'refused';

export interface TransferSteps {
  /** Debits the account; the money is then in transit. */
  sendTransfer(transfer: Transfer): Promise<void>;
  /** Requests the verdict from the destination. */
  askForVerdict(transfer: Transfer): Promise<Verdict>;
  concludeTransfer(id: string, verdict: Verdict): Promise<void>;
}
