/** A transfer from an account of one cell to one of the other: ids and an amount, as in every workflow. */
export interface Transfer {
  id: string;
  fromAccountId: string;
  toAccountId: string;
  /** IDR, scale 4. */
  amount: string;
}

export type Verdict = 'accepted' | 'refused';

export interface TransferSteps {
  /** Debits its account; the money is in transit from then on. */
  sendTransfer(transfer: Transfer): Promise<void>;
  /** Requests the verdict from the destination until it returns one. */
  askForVerdict(transfer: Transfer): Promise<Verdict>;
  concludeTransfer(id: string, verdict: Verdict): Promise<void>;
}
