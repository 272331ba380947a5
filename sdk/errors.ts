/** A refusal of the API, by its code (`FUNDS_LIMIT_EXCEEDED`, ...). */
export class PartnerApiError extends Error {
  override readonly name = 'PartnerApiError';
  readonly status: number;
  readonly code: string;
  readonly details: unknown;
  readonly requestId: string | undefined;
  /** Of the creation that was refused; a repetition under it is safe. */
  readonly idempotencyKey: string | undefined;

  constructor(
    message: string,
    facts: { status: number; code: string; details: unknown; requestId?: string; idempotencyKey?: string },
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details;
    this.requestId = facts.requestId;
    this.idempotencyKey = facts.idempotencyKey;
  }

  /** Reads a refusal; what is not the envelope of the API (a proxy's page, say) has the code `UNREADABLE`. */
  static of(status: number, text: string, idempotencyKey: string | undefined): PartnerApiError {
    const key = idempotencyKey === undefined ? {} : { idempotencyKey };
    try {
      const { error, request_id: requestId } = JSON.parse(text);
      const { code, message, details } = error;
      return new PartnerApiError(`${code}: ${message}`, { status, code, details, requestId, ...key });
    } catch {
      return new PartnerApiError(`status ${status}`, { status, code: 'UNREADABLE', details: null, ...key });
    }
  }

  /** The outcome is not known yet: ask again under the same key, or poll; never send it under another. */
  get isIndeterminate(): boolean {
    return this.code === 'PROVIDER_INDETERMINATE';
  }
}

/** No answer came, as often as it was tried. A creation may have happened: repeat it under `idempotencyKey`. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  readonly idempotencyKey: string | undefined;

  constructor(operation: string, idempotencyKey: string | undefined, cause: unknown) {
    super(`${operation} got no answer`, { cause });
    this.idempotencyKey = idempotencyKey;
  }
}
