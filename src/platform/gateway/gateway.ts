import type { Money } from '../../shared/money.ts';

/** The provider port, through which the product uses payment providers (docs/contract.md 4). */

export type PaymentMethodKind = 'virtual_account' | 'qris' | 'ewallet';

export interface InstrumentRequest {
  /** Our id of the order or payment: the provider's reference and idempotency key, the same for every attempt. */
  reference: string;
  method: PaymentMethodKind;
  /** The provider's channel code, e.g. `BCA`; for QRIS the acquirer's code. */
  channelCode: string;
  /** IDR, whole rupiah. */
  amount: Money;
  expiresAt: Date;
  /** The purpose, as the provider's own pages show it. */
  description?: string;
  customer?: { name?: string; email?: string; phone?: string };
  /** The page to which an e-wallet's checkout returns the payer. */
  returnUrl: string;
}

export interface Instrument {
  /** The provider's id of the payment request. */
  providerPaymentRequestId: string;
  /** The provider's id of the payment method, which incoming payments refer to. */
  providerPaymentMethodId: string;
  /** The virtual account number as the rail returned it, the QR payload, or the checkout URL (or request id for a push). */
  paymentCode: string;
  expiresAt: Date | null;
}

/**
 * A request for a reusable instrument: an account number or QR code that accepts any number of payments and never
 * expires.
 */
export interface ReusableRequest
  extends Pick<InstrumentRequest, 'reference' | 'channelCode' | 'description' | 'customer'> {
  method: Exclude<PaymentMethodKind, 'ewallet'>;
  /** The required amount of each payment, IDR, whole rupiah; null for any. */
  amount: Money | null;
}

export interface ReusableInstrument {
  /** The provider's id of the payment method, which incoming payments refer to. */
  providerPaymentMethodId: string;
  paymentCode: string;
}

export type ReusableOutcome =
  | { outcome: 'accepted'; instrument: ReusableInstrument }
  | { outcome: 'refused'; code: string; message: string };

/** A provider call ends accepted, refused or unknown (docs/contract.md 4). Unknown is thrown as `ProviderUnknown`. */
export type InstrumentOutcome =
  | { outcome: 'accepted'; instrument: Instrument }
  | { outcome: 'refused'; code: string; message: string };

/** Money as the provider reports it: one entry per payment made under an instrument. */
export interface ProviderPayment {
  /** The provider's id of the payment, by which receipts are deduplicated. */
  providerPaymentId: string;
  providerPaymentRequestId: string | null;
  providerPaymentMethodId: string;
  reference: string;
  amount: Money;
  /** `voided`: it succeeded and was reversed. */
  status: 'succeeded' | 'failed' | 'voided' | 'pending';
  failureCode: string | null;
  paidAt: Date | null;
}

export interface InstrumentState {
  /** The provider's status of the whole request; also `paid` if only its payment method has been marked as used. */
  status: 'waiting' | 'paid' | 'failed' | 'expired';
  failureCode: string | null;
  instrument: Instrument;
  /** Every payment made to the instrument, of any amount. */
  payments: ProviderPayment[];
}

export interface TransferRequest {
  /** Our payout's id: the provider's reference and idempotency key, the same for every attempt. */
  reference: string;
  bankCode: string;
  accountNumber: string;
  accountHolder: string;
  amount: Money;
  description: string;
}

/** A full or partial refund of a payment to the wallet that paid. Its states are those of a transfer. */
export interface RefundRequest {
  /** Our refund's id: the provider's reference and idempotency key, the same for every attempt. */
  reference: string;
  /** The provider's id of the payment request that was paid. */
  refundOf: string;
  amount: Money;
}

export interface TransferState {
  providerTransferId: string;
  reference: string;
  amount: Money;
  status: 'accepted' | 'succeeded' | 'failed' | 'reversed';
  failureCode: string | null;
  /** When the provider created it; null if unknown. */
  createdAt: Date | null;
}

/** The most conclusive of the provider's transfers under a reference, and any others. */
export interface FoundTransfer extends TransferState {
  further: TransferState[];
}

export type TransferOutcome =
  | { outcome: 'accepted'; transfer: TransferState }
  | { outcome: 'refused'; code: string; message: string };

export interface BankAccountQuestion {
  bankCode: string;
  accountNumber: string;
  /** The claimed account holder. */
  name?: string | undefined;
}

/** The provider's record of a bank account; `holder` is null if a valid account comes without a name. */
export type BankAccountState = { status: 'valid'; holder: string | null } | { status: 'invalid'; holder: null };

/** A movement of money at the provider: one entry in its books. */
export interface ProviderRecord {
  /** The provider's id of the entry itself, used as the list's cursor. */
  entryId: string;
  kind: 'payment' | 'transfer';
  /** The provider's id of the payment, transfer or refund. */
  providerId: string;
  reference: string;
  amount: Money;
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
}

/** An entry of the provider's books that could not be read in full; no conclusion is drawn from it. */
export interface UnreadableRecord extends Pick<ProviderRecord, 'entryId' | 'kind' | 'providerId' | 'reference'> {
  /** Null when the amount cannot be read. */
  amount: Money | null;
  status: 'unreadable';
}

/** A callback's claim: a hint about what to look up at the provider, never a fact. */
export interface CallbackHint {
  kind: 'payment' | 'payment_method' | 'transfer';
  event: string;
  reference: string;
  providerPaymentId: string | null;
  providerPaymentRequestId: string | null;
  providerPaymentMethodId: string | null;
  providerTransferId: string | null;
}

/** The content of a callback: a hint, or why there is none. */
export type CallbackReading = { hint: CallbackHint } | { hint: null; unread: string };

export interface PaymentsRead {
  payments: ProviderPayment[];
  /** The time of the oldest payment returned if there are more; otherwise null. */
  rest: Date | null;
}

export interface CallOptions {
  /** Aborts the call, whose outcome is then unknown. */
  signal?: AbortSignal;
  /**
   * Called right before a request is sent, after any wait; if false, the request is not sent and its outcome is
   * unknown.
   */
  beforeSend?: () => Promise<boolean>;
  /** The partner for whom the call is made, if any; a partner with many calls yields to others. */
  partnerId?: string | null;
  /** Whether it completes a call that was just made and is useless without it: then it goes before all others. */
  follows?: boolean;
}

export interface Gateway {
  /**
   * The provider's name, as stored with channels, banks and rows, and in the path of its callbacks. Ids must be unique
   * across providers: where they may collide, the adapter prefixes them with the name.
   */
  readonly provider: string;
  /** Creates an instrument with `reference` as idempotency key. Throws ProviderUnknown when the outcome is unknown. */
  requestInstrument(request: InstrumentRequest, options?: CallOptions): Promise<InstrumentOutcome>;
  /**
   * Returns the provider's state of the instrument with this reference, or null if it has none. With `briefly`, a
   * pending instrument's payments are not looked up, which saves one call.
   */
  findInstrument(reference: string, options?: CallOptions & { briefly?: boolean }): Promise<InstrumentState | null>;
  /** Returns a payment under this payment method by the provider's id; null when there is none. */
  findPayment(
    providerPaymentMethodId: string,
    providerPaymentId: string,
    options?: CallOptions,
  ): Promise<ProviderPayment | null>;
  /**
   * Creates a reusable instrument unless its reference exists, since the provider accepts no idempotency key here. If
   * several have one reference, returns the oldest. Throws ProviderUnknown.
   */
  requestReusable(request: ReusableRequest, options?: CallOptions): Promise<ReusableOutcome>;
  /** Returns the instrument with this reference, or null if the provider has none. */
  findReusable(reference: string, options?: CallOptions): Promise<ReusableInstrument | null>;
  /**
   * Lists the payments under a payment method from `since` to `before`, both inclusive, newest first, as many as one
   * call reads. Throws ProviderUnknown.
   */
  listPaymentsUnder(
    providerPaymentMethodId: string,
    options?: CallOptions & { since?: Date | undefined; before?: Date | undefined },
  ): Promise<PaymentsRead>;
  /** Expires the instrument so that it accepts no more money; does nothing if it is already final. */
  expireInstrument(providerPaymentMethodId: string, options?: CallOptions): Promise<void>;
  requestTransfer(request: TransferRequest | RefundRequest, options?: CallOptions): Promise<TransferOutcome>;
  /**
   * Returns the SHA-256 (hex) over everything that this request sends: a different digest means a different transfer.
   */
  digestTransfer(request: TransferRequest | RefundRequest): string;
  /**
   * Returns the transfer with this reference or, with `refundOf`, the refund of that payment request; null if the
   * provider has none. Of several, prefers the one with the provider's id `known`, unless it failed. Without `refundOf`
   * a refund is found only by its `known` id.
   */
  findTransfer(
    reference: string,
    options?: CallOptions & { refundOf?: string | null | undefined; known?: string | null | undefined },
  ): Promise<FoundTransfer | null>;
  /**
   * Yields the provider's records of a period, after the entry `after` if given; `to` is exclusive. Yields malformed
   * entries as unreadable. Throws ProviderUnknown.
   */
  listRecords(
    period: { from: Date; to: Date; after?: string },
    options?: CallOptions,
  ): AsyncIterable<(ProviderRecord | UnreadableRecord)[]>;
  /** Whether a bank account exists, and its holder. Throws ProviderUnknown when the provider gives no answer. */
  checkBankAccount(question: BankAccountQuestion, options?: CallOptions): Promise<BankAccountState>;
  /** Reads the balance held at the provider, IDR. */
  readBalance(options?: CallOptions): Promise<Money>;
  /** Reads the bytes of a callback; never throws. When unreadable, the reason names fields, not their values. */
  readCallback(body: Buffer): CallbackReading;
  /** Whether this is the configured `x-callback-token`; compares in constant time. */
  isCallbackToken(token: string | undefined): boolean;
}

/** The providers by name; a row always uses its own. */
export interface Gateways {
  readonly names: readonly string[];
  /** Throws for a name that is not among `names`. */
  of(provider: string): Gateway;
  /** Sums all providers' balances, IDR. Throws ProviderUnknown if one of them is unknown. */
  readBalance(options?: CallOptions): Promise<Money>;
}

/** The outcome of a call is unknown: look it up by reference, never send it with another key. */
export class ProviderUnknown extends Error {
  override readonly name = 'ProviderUnknown';
  readonly code = 'PROVIDER_UNKNOWN';
  /** The request was not sent or was rejected with 429, so it had no effect and may be sent again. */
  readonly neverSent: boolean;
  /** The rate limit's retry delay in milliseconds; 0 if the cause is another. */
  readonly restMs: number;

  constructor(message: string, { neverSent = false, restMs = 0 }: { neverSent?: boolean; restMs?: number } = {}) {
    super(message);
    this.neverSent = neverSent;
    this.restMs = restMs;
  }
}

/** Whether the error is a ProviderUnknown; recognised by code, so also across realms. */
export function isProviderUnknown(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'PROVIDER_UNKNOWN';
}

/** Returns how long not to call the provider if a rate limit caused the unknown outcome. */
export function restAfter(error: unknown): { restMs?: number } {
  const { restMs } = isProviderUnknown(error) ? (error as ProviderUnknown) : { restMs: 0 };
  return restMs > 0 ? { restMs } : {};
}

/** Whether the error proves that the request had no effect; recognised across realms. */
export function isNeverSent(error: unknown): boolean {
  return isProviderUnknown(error) && (error as ProviderUnknown).neverSent;
}
