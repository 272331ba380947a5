import type { PartnerError } from './generated.ts';

/** The API's error codes. */
export type ErrorCode = PartnerError['error']['code'];

/** The type of `details`, for the codes that have any. */
export interface ErrorDetails {
  REQUEST_INVALID_PAYLOAD: { field: string; message: string }[];
  FUNDS_INSUFFICIENT_BALANCE: { available: string; required: string };
  FUNDS_LIMIT_EXCEEDED:
    | { limit: 'max_payout_amount' | 'max_daily_amount'; maximum: string; used: string; remaining: string }
    | { limit: 'max_hourly_count'; maximum: number; used: number; remaining: number };
  /** IDR: what was paid, what was refunded or is being refunded, and what can still be refunded. */
  FUNDS_REFUND_EXCEEDED: { paid: string; refunded: string; remaining: string };
  PROVIDER_REFUSED: { payment_id: string; failure_code: string | null };
  PROVIDER_INDETERMINATE: { payment_id: string; status_url: string };
}

type DetailsOf<C extends ErrorCode> = C extends keyof ErrorDetails ? ErrorDetails[C] | undefined : unknown;

/**
 * The API returns these under a key only after looking up what was created under it: nothing was, or nothing more will
 * be. After any other refusal the outcome of an earlier attempt is unknown.
 */
const decisive: ReadonlySet<string> = new Set<ErrorCode>([
  'REQUEST_INVALID_PAYLOAD',
  'REQUEST_IDEMPOTENCY_KEY_REUSED',
  'RESOURCE_NOT_LINKED',
  'PAYMENT_NOT_PAID',
  'FUNDS_INSUFFICIENT_BALANCE',
  'FUNDS_LIMIT_EXCEEDED',
  'FUNDS_REFUND_EXCEEDED',
  'FUNDS_PAYOUT_SUSPENDED',
  'PROVIDER_REFUSED',
]);

/** What an error needs to know about the request. */
export interface Asked {
  idempotencyKey?: string | undefined;
  /** An earlier attempt may have been carried out. */
  mayBeDone?: boolean;
}

interface Facts {
  status: number;
  code: ErrorCode | 'UNREADABLE';
  details?: unknown;
  requestId?: string | undefined;
  idempotencyKey?: string | undefined;
  retryAfterSeconds?: number | undefined;
  isIndeterminate?: boolean;
}

/** An error answer of the API, by its code (`FUNDS_LIMIT_EXCEEDED`, ...). */
export class PartnerApiError extends Error {
  override readonly name = 'PartnerApiError';
  readonly status: number;
  /** `UNREADABLE` if something other than the API answered, e.g. a proxy's error page. */
  readonly code: ErrorCode | 'UNREADABLE';
  readonly details: unknown;
  /** The id by which the platform's operator finds the request. */
  readonly requestId: string | undefined;
  /** The key of the refused creation; repeating it under this key is safe. */
  readonly idempotencyKey: string | undefined;
  /** Set if the API named a time to retry after. */
  readonly retryAfterSeconds: number | undefined;
  /**
   * For a creation: it may have been carried out, by this attempt or an earlier one, or may still be. Retry under the
   * same key, or poll; never send it under another.
   */
  readonly isIndeterminate: boolean;

  constructor(message: string, facts: Facts) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details;
    this.requestId = facts.requestId;
    this.idempotencyKey = facts.idempotencyKey;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.isIndeterminate = facts.isIndeterminate ?? false;
  }

  /** Reads an error answer. */
  static of(answer: Pick<Response, 'status' | 'headers'>, text: string, asked: Asked = {}): PartnerApiError {
    const { status, headers } = answer;
    const { idempotencyKey, mayBeDone = false } = asked;
    const refusal = readEnvelope(text);
    const facts = { status, idempotencyKey, retryAfterSeconds: readRetryAfter(headers.get('retry-after')) };
    const isOpen = idempotencyKey !== undefined && (mayBeDone || status >= 500);
    if (refusal === null) {
      const target = headers.get('location');
      const what = target === null ? 'the answer is not from the API' : `a redirect to ${target}`;
      const message = `status ${status}, ${what}: is baseUrl right?`;
      return new PartnerApiError(message, { ...facts, code: 'UNREADABLE', isIndeterminate: isOpen });
    }
    const { error, request_id: requestId } = refusal;
    const { code, message, details } = error;
    const isIndeterminate = isOpen && !decisive.has(code);
    return new PartnerApiError(`${code}: ${message}`, { ...facts, code, details, requestId, isIndeterminate });
  }

  /** Whether this is the code; `details` then has its type. */
  is<C extends ErrorCode>(code: C): this is PartnerApiError & { readonly code: C; readonly details: DetailsOf<C> } {
    return this.code === code;
  }
}

/**
 * The last attempt got no answer, or the call was aborted; `cause` has the reason. The resource may have been created: retry
 * the creation under `idempotencyKey`, never under another.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  readonly idempotencyKey: string | undefined;

  constructor(operation: string, facts: { attempts: number; idempotencyKey: string | undefined; cause: unknown }) {
    const { attempts, idempotencyKey, cause } = facts;
    super(`${operation} got no answer in ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} (${explain(cause)})`, {
      cause,
    });
    this.idempotencyKey = idempotencyKey;
  }
}

/** `fetch` reports only "fetch failed"; the reason is in its cause. */
function explain(error: unknown): string {
  if (!(typeof error === 'object' && error !== null && 'message' in error)) return String(error);
  const inner = 'cause' in error && error.cause !== undefined ? explain(error.cause) : '';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return [String(error.message) || code, inner].filter(Boolean).join(': ');
}

/** Null if it is not from the API. */
function readEnvelope(text: string): PartnerError | null {
  try {
    const read = JSON.parse(text);
    return typeof read.error.code === 'string' ? read : null;
  } catch {
    return null;
  }
}

/** Seconds, or an HTTP date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
