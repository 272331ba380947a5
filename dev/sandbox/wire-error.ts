/** An error in the provider's format: a status, a code and a sentence. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The provider's answer to an invalid body, header or query. */
export const invalid = (message: string): WireError => new WireError(400, 'API_VALIDATION_ERROR', message);

/** The provider's answer to an unknown id. */
export const notFound = (what: string): WireError => new WireError(404, 'DATA_NOT_FOUND', `${what} not found`);
