export interface ProviderPayment {
  id: string;
  amount: number;
  status: string;
}

export interface ProviderRequest {
  id: string;
  reference: string;
  amount: number;
  status: string;
  /** Whether it accepts any number of payments. */
  isReusable?: true;
  payments: ProviderPayment[];
}

/** A transfer to a bank account, or a refund to a wallet. */
export interface ProviderTransfer {
  id: string;
  reference: string;
  amount: number;
  status: string;
  idempotencyKey: string;
  /** For a refund: the provider's id of the payment request whose wallet it goes to; null for a transfer. */
  refundOf: string | null;
  /** Where a transfer goes; null for a refund. */
  goesTo: { account: string; holder: string } | null;
}

export interface ReceivedWebhook {
  /** The header `webhook-id`. */
  id: string;
  body: string;
  /** The partner whose secret signed it; null when none did. */
  signedBy: string | null;
  /** It was received between a backup and just after its restore, so its row may be gone. */
  mayLackRow?: boolean;
}
