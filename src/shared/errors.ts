/**
 * The catalogue of all refusals, including the partner API's codes (docs/contract.md 8). Each code has a status; the
 * message is for the caller, the cause for the log.
 */
export const errorStatuses = {
  REQUEST_INVALID: 400,
  INSUFFICIENT_BALANCE: 400,
  DUPLICATE: 400,
  IDEMPOTENCY_KEY_REUSED: 400,
  UNAUTHENTICATED: 401,
  FOREIGN_ORGANIZATION: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  KEY_ALREADY_ROTATED: 409,
  REQUEST_TIMEOUT: 408,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  PROVIDER_REFUSED: 502,
  SERVICE_UNAVAILABLE: 503,
  PROVIDER_INDETERMINATE: 504,
  REQUEST_INVALID_PAYLOAD: 400,
  REQUEST_IDEMPOTENCY_KEY_REQUIRED: 400,
  REQUEST_IDEMPOTENCY_KEY_REUSED: 409,
  REQUEST_RATE_LIMITED: 429,
  RESOURCE_NOT_FOUND: 404,
  RESOURCE_NOT_LINKED: 403,
  AUTH_INVALID_CREDENTIALS: 401,
  AUTH_PERMISSION_DENIED: 403,
  AUTH_PARTNER_INACTIVE: 403,
  PAYMENT_ALREADY_PAID: 409,
  PAYMENT_NOT_PAID: 409,
  PAYOUT_BATCH_DECIDED: 409,
  FUNDS_INSUFFICIENT_BALANCE: 422,
  FUNDS_LIMIT_EXCEEDED: 422,
  FUNDS_REFUND_EXCEEDED: 422,
  FUNDS_PAYOUT_SUSPENDED: 422,
} as const;

export type ErrorCode = keyof typeof errorStatuses;

/** Maximum errors listed for one request: more are useless, and a body could cause one per byte. */
export const mostComplaints = 20;

export interface DomainErrorOptions {
  /** The field in error, by its name in the request. */
  field?: string;
  /** All messages if there are several, one per field. */
  messages?: string[];
  /** Machine-readable details for envelopes that carry them. */
  details?: unknown;
  /** Seconds after which a retry makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/**
 * A refusal that the caller may read. Recognise it with `isDomainError`, by its code, never by `instanceof`: class
 * identity does not survive jest's realms, the workflow sandbox or a Temporal round trip.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  /** The field in error, if any, and what is wrong with it; the message has both. */
  readonly field: string | undefined;
  readonly complaint: string;
  readonly messages: string[] | undefined;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, complaint: string, options: DomainErrorOptions = {}) {
    const { field, cause } = options;
    super(field === undefined ? complaint : `${field}: ${complaint}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.field = field;
    this.complaint = complaint;
    this.messages = options.messages;
    // Details stored or sent as absent are read back as null.
    this.details = options.details ?? undefined;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Whether a thrown value is one of our refusals, recognised by its code. */
export function isDomainError(error: unknown): error is DomainError {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code in errorStatuses &&
    'message' in error
  );
}

/** The `code` of a thrown value (Node, PostgreSQL and gRPC errors have one), or undefined. */
export function errorCodeOf(error: unknown): string | number | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' || typeof error.code === 'number' ? error.code : undefined;
}

/** SQLSTATE of the trigger that blocks new data of an erased person (identity.sql). */
const ofErasedPerson = 'AM012';

/** Returns the thrown value, or a refusal in place of that trigger's error. */
export const asRefusal = (error: unknown): unknown =>
  errorCodeOf(error) === ofErasedPerson
    ? new DomainError('FORBIDDEN', 'The user has been erased', { cause: error })
    : error;

/** Whether PostgreSQL refused a value that it cannot represent, such as a year out of range (SQLSTATE class 22). */
export const isDataError = (error: unknown): boolean => /^22...$/.test(String(errorCodeOf(error)));

/** Throws a refusal, as an expression that reads like a sentence. The message begins with the field. */
export function refuse(code: ErrorCode, complaint: string, options?: DomainErrorOptions): never {
  throw new DomainError(code, complaint, options);
}

/** Runs work whose refusals use other field names than the request, and renames the fields by `names`. */
export async function withFieldNames<T>(names: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const field = isDomainError(error) && error.field !== undefined ? names[error.field] : undefined;
    if (!isDomainError(error) || field === undefined) throw error;
    const { code, complaint, messages, details, retryAfterSeconds, cause = error } = error;
    const options = { ...(messages && { messages }), ...(retryAfterSeconds && { retryAfterSeconds }), details, cause };
    throw new DomainError(code, complaint, { ...options, field });
  }
}

/** An unusable configuration; the message names every missing or malformed variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Refuses a partner's request because of one field, in the form of any validation failure (docs/contract.md 8). */
export function refuseField(field: string, complaint: string): never {
  refuse('REQUEST_INVALID_PAYLOAD', complaint, { field, details: [{ field, message: `${field}: ${complaint}` }] });
}

/** Returns the result of `reckon`; rethrows its DomainError as a validation failure of `field`. */
export function aboutField<T>(field: string, reckon: () => T): T {
  try {
    return reckon();
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return refuseField(field, error.complaint);
  }
}
