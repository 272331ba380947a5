import type { Money } from '../shared/money.ts';

/** The provider port: the only shape in which the product knows a payment provider (docs/contract.md 4). */
export type PaymentMethodKind = 'virtual_account' | 'qris' | 'ewallet';

export interface InstrumentRequest {
  /** Our own id of the order or payment: the provider's reference and its idempotency key, whatever the attempt. */
  reference: string;
  method: PaymentMethodKind;
  /** The provider's channel code, e.g. `BCA`; for QRIS the acquirer's code. */
  channelCode: string;
  /** IDR, whole rupiah. */
  amount: Money;
  expiresAt: Date;
  description?: string;
  customer?: { name?: string; email?: string; phone?: string };
  /** Where an e-wallet's checkout sends the payer afterwards. */
  returnUrl: string;
}

export interface Instrument {
  /** The provider's id of the payment request. */
  providerPaymentRequestId: string;
  /** The provider's id of the payment method, under which money arrives. */
  providerPaymentMethodId: string;
  /** The virtual account number as the rail returned it, the QR payload, or the checkout URL (or request id for a push). */
  paymentCode: string;
  expiresAt: Date | null;
}

/** A provider call ends accepted, refused or unknown (docs/contract.md 4). Unknown is thrown as `ProviderUnknown`. */
export type InstrumentOutcome =
  | { outcome: 'accepted'; instrument: Instrument }
  | { outcome: 'refused'; code: string; message: string };

/** Money as the provider reports it: one entry per payment made under an instrument. */
export interface ProviderPayment {
  /** The provider's id of the payment: what a receipt is deduplicated by. */
  providerPaymentId: string;
  providerPaymentRequestId: string | null;
  providerPaymentMethodId: string;
  reference: string;
  amount: Money;
  /** `voided`: it succeeded, and was taken back. */
  status: 'succeeded' | 'failed' | 'voided' | 'pending';
  failureCode: string | null;
  paidAt: Date | null;
}

export interface InstrumentState {
  /** What the provider says of the request as a whole; `paid` also when only its payment method says so, by being used up. */
  status: 'waiting' | 'paid' | 'failed' | 'expired';
  failureCode: string | null;
  instrument: Instrument;
  /** Every payment made under it, right amount or not. */
  payments: ProviderPayment[];
}

export interface TransferRequest {
  /** Our payout's own id: reference and idempotency key at the provider, whatever the attempt. */
  reference: string;
  bankCode: string;
  accountNumber: string;
  accountHolder: string;
  amount: Money;
  description: string;
}

export interface TransferState {
  providerTransferId: string;
  reference: string;
  amount: Money;
  status: 'accepted' | 'succeeded' | 'failed' | 'reversed';
  failureCode: string | null;
}

export type TransferOutcome =
  | { outcome: 'accepted'; transfer: TransferState }
  | { outcome: 'refused'; code: string; message: string };

/** Money that moved at the provider: one entry of its own books. */
export interface ProviderRecord {
  /** The provider's id of the entry itself: where its list goes on. */
  entryId: string;
  kind: 'payment' | 'transfer';
  /** The provider's id of the payment or transfer. */
  providerId: string;
  reference: string;
  amount: Money;
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
}

/** An entry of the provider's books of which something is not understood: nothing is concluded from it. */
export interface UnreadableRecord extends Pick<ProviderRecord, 'entryId' | 'kind' | 'providerId' | 'reference'> {
  /** Null where the amount is what cannot be read. */
  amount: Money | null;
  status: 'unreadable';
}

/** What a callback claims. A hint, never a fact: it names what to ask the provider about. */
export interface CallbackHint {
  kind: 'payment' | 'payment_method' | 'transfer';
  event: string;
  reference: string;
  providerPaymentId: string | null;
  providerPaymentRequestId: string | null;
  providerPaymentMethodId: string | null;
  providerTransferId: string | null;
}

/** What a callback's bytes say: a hint, or why there is none in them. */
export type CallbackReading = { hint: CallbackHint } | { hint: null; unread: string };

export interface CallOptions {
  /** Aborts the call; an aborted call is unknown. */
  signal?: AbortSignal;
  /** Asked right before a request is written to the wire, after any wait; false makes it unknown and never sent. */
  beforeSend?: () => Promise<boolean>;
}

export interface Gateway {
  /** Creates an instrument under `reference` as idempotency key. Throws ProviderUnknown when no one can tell. */
  requestInstrument(request: InstrumentRequest, options?: CallOptions): Promise<InstrumentOutcome>;
  /** What the provider says of the instrument of this reference; null when it knows none. */
  findInstrument(reference: string, options?: CallOptions): Promise<InstrumentState | null>;
  /** One payment by the provider's id under its payment method; null when there is none. */
  findPayment(
    providerPaymentMethodId: string,
    providerPaymentId: string,
    options?: CallOptions,
  ): Promise<ProviderPayment | null>;
  /** Expires the instrument so that it takes no more money; already final is not an error. */
  expireInstrument(providerPaymentMethodId: string, options?: CallOptions): Promise<void>;
  requestTransfer(request: TransferRequest, options?: CallOptions): Promise<TransferOutcome>;
  /** SHA-256 (hex) over everything that this request puts on the wire: another digest is another transfer. */
  digestTransfer(request: TransferRequest): string;
  findTransfer(reference: string, options?: CallOptions): Promise<TransferState | null>;
  /**
   * The provider's records of a period, page by page, after the entry `after` where one is given; `to` no longer belongs
   * to the period. An entry that cannot be read is told as such. Throws ProviderUnknown.
   */
  listRecords(
    period: { from: Date; to: Date; after?: string },
    options?: CallOptions,
  ): AsyncIterable<(ProviderRecord | UnreadableRecord)[]>;
  /** The balance held at the provider, IDR. */
  readBalance(options?: CallOptions): Promise<Money>;
  /** Reads the bytes of a callback; never throws. The reason of what is unread names fields, not their values. */
  readCallback(body: Buffer): CallbackReading;
  /** Whether the token in `x-callback-token` is the right one, in constant time. */
  isCallbackToken(token: string | undefined): boolean;
}

/** No one can tell whether the call had effect: ask by reference, never send under another key. */
export class ProviderUnknown extends Error {
  override readonly name = 'ProviderUnknown';
  readonly code = 'PROVIDER_UNKNOWN';
  /** It was not sent, or not taken (429): the request provably had no effect, and the same one may be sent again. */
  readonly neverSent: boolean;
  /** Calls are limited: try again after so many milliseconds. 0 when that is not the reason. */
  readonly restMs: number;

  constructor(message: string, { neverSent = false, restMs = 0 }: { neverSent?: boolean; restMs?: number } = {}) {
    super(message);
    this.neverSent = neverSent;
    this.restMs = restMs;
  }
}

/** Known by code, across realms. */
export function isProviderUnknown(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'PROVIDER_UNKNOWN';
}

/** For how long the provider is not to be called, where calls being limited is the reason of an unknown outcome. */
export function restAfter(error: unknown): { restMs?: number } {
  const { restMs } = isProviderUnknown(error) ? (error as ProviderUnknown) : { restMs: 0 };
  return restMs > 0 ? { restMs } : {};
}

/** Whether a request provably had no effect, known across realms. */
export function isNeverSent(error: unknown): boolean {
  return isProviderUnknown(error) && (error as ProviderUnknown).neverSent;
}
