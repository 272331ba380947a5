import type { PartnerError } from './generated.ts';

/** Why the API refuses. */
export type ErrorCode = PartnerError['error']['code'];

/** What `details` holds, for the codes that have some. */
export interface ErrorDetails {
  REQUEST_INVALID_PAYLOAD: { field: string; message: string }[];
  FUNDS_INSUFFICIENT_BALANCE: { available: string; required: string };
  FUNDS_LIMIT_EXCEEDED:
    | { limit: 'max_payout_amount' | 'max_daily_amount'; maximum: string; used: string; remaining: string }
    | { limit: 'max_hourly_count'; maximum: number; used: number; remaining: number };
  PROVIDER_REFUSED: { payment_id: string; failure_code: string | null };
  PROVIDER_INDETERMINATE: { payment_id: string; status_url: string };
}

type DetailsOf<C extends ErrorCode> = C extends keyof ErrorDetails ? ErrorDetails[C] | undefined : unknown;

/**
 * Given to whoever asks under a key only after what was made under it was looked for: nothing was, or nothing more will
 * be. Any other refusal leaves open what became of an earlier attempt.
 */
const decisive: ReadonlySet<string> = new Set<ErrorCode>([
  'REQUEST_INVALID_PAYLOAD',
  'REQUEST_IDEMPOTENCY_KEY_REUSED',
  'RESOURCE_NOT_LINKED',
  'FUNDS_INSUFFICIENT_BALANCE',
  'FUNDS_LIMIT_EXCEEDED',
  'FUNDS_PAYOUT_SUSPENDED',
  'PROVIDER_REFUSED',
]);

/** What was asked, as far as a refusal needs to know. */
export interface Asked {
  idempotencyKey?: string | undefined;
  /** An attempt before this one may have been done. */
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

/** A refusal of the API, by its code (`FUNDS_LIMIT_EXCEEDED`, ...). */
export class PartnerApiError extends Error {
  override readonly name = 'PartnerApiError';
  readonly status: number;
  /** `UNREADABLE` when something else than the API answered: a proxy's page, say. */
  readonly code: ErrorCode | 'UNREADABLE';
  readonly details: unknown;
  /** What the operator of the platform finds the request by. */
  readonly requestId: string | undefined;
  /** Of the creation that was refused; a repetition under it is safe. */
  readonly idempotencyKey: string | undefined;
  /** When the API said so. */
  readonly retryAfterSeconds: number | undefined;
  /**
   * Of a creation: it may have been done, at this attempt or an earlier one, or is still to be. Ask again under the same
   * key, or poll; never send it under another.
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

  /** Reads a refusal. */
  static of(answer: Pick<Response, 'status' | 'headers'>, text: string, asked: Asked = {}): PartnerApiError {
    const { status, headers } = answer;
    const { idempotencyKey, mayBeDone = false } = asked;
    const refusal = readEnvelope(text);
    const facts = { status, idempotencyKey, retryAfterSeconds: readRetryAfter(headers.get('retry-after')) };
    const isOpen = idempotencyKey !== undefined && (mayBeDone || status >= 500);
    if (refusal === null) {
      const target = headers.get('location');
      const what = target === null ? 'what answered is not the API' : `a redirect to ${target}`;
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
 * No answer came, as often as it was tried, or the call was aborted; `cause` says why. A creation may have happened:
 * repeat it under `idempotencyKey`, never under another.
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

/** `fetch` says only "fetch failed"; what it was stands in the cause of that. */
function explain(error: unknown): string {
  if (!(typeof error === 'object' && error !== null && 'message' in error)) return String(error);
  const inner = 'cause' in error && error.cause !== undefined ? explain(error.cause) : '';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return [String(error.message) || code, inner].filter(Boolean).join(': ');
}

/** Null for what the API did not write. */
function readEnvelope(text: string): PartnerError | null {
  try {
    const read = JSON.parse(text);
    return typeof read.error.code === 'string' ? read : null;
  } catch {
    return null;
  }
}

/** Seconds, or the instant as HTTP writes it. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
