import { STATUS_CODES } from 'node:http';
import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { isAway } from '../../shared/away.ts';
import { asRefusal, DomainError, type ErrorCode, errorStatuses, isDomainError } from '../../shared/errors.ts';

/** Every error under this prefix has the partner API's own envelope (docs/contract.md 8). */
export const partnerPrefix = '/v1/partners';

/** Whether a path, of a request or a route, belongs to the partner API. */
export const isPartnerPath = (path: string): boolean => path === partnerPrefix || path.startsWith(`${partnerPrefix}/`);

/** The partner API has its own codes for these. */
const partnerCodes: Partial<Record<ErrorCode, ErrorCode>> = {
  REQUEST_INVALID: 'REQUEST_INVALID_PAYLOAD',
  DUPLICATE: 'REQUEST_INVALID_PAYLOAD',
  UNAUTHENTICATED: 'AUTH_INVALID_CREDENTIALS',
  FORBIDDEN: 'AUTH_PERMISSION_DENIED',
  NOT_FOUND: 'RESOURCE_NOT_FOUND',
  TOO_MANY_REQUESTS: 'REQUEST_RATE_LIMITED',
  HEADERS_TOO_LARGE: 'REQUEST_INVALID_PAYLOAD',
  IDEMPOTENCY_KEY_REUSED: 'REQUEST_IDEMPOTENCY_KEY_REUSED',
};

/** Returns the partner API's code for this one. */
export const partnerCodeOf = (code: ErrorCode): ErrorCode => partnerCodes[code] ?? code;

/** Converts any thrown value to a refusal for the caller; an unknown error becomes INTERNAL, without details. */
export function asDomainError(thrown: unknown): DomainError {
  const error = asRefusal(thrown);
  if (isDomainError(error)) return error;
  if (isAway(error)) {
    return new DomainError('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable; try again', {
      retryAfterSeconds: 2,
      cause: error,
    });
  }
  return new DomainError('INTERNAL', 'Internal error', { cause: error });
}

/** Returns the status of a refusal in the envelope of the path's prefix. */
export const statusOfError = (code: ErrorCode, path: string): number =>
  errorStatuses[isPartnerPath(path) ? partnerCodeOf(code) : code];

/** Returns the body of a refusal in the envelope of the path's prefix. */
export function presentError(error: DomainError, path: string, requestId: string): object {
  const statusCode = errorStatuses[error.code];
  if (isPartnerPath(path)) {
    const code = partnerCodeOf(error.code);
    const { message, field = 'request' } = error;
    const { details = code === 'REQUEST_INVALID_PAYLOAD' ? [{ field, message }] : undefined } = error;
    return { error: { code, message, ...(details === undefined ? {} : { details }) }, request_id: requestId };
  }
  const several = error.messages && error.messages.length > 1;
  return {
    message: several ? error.messages : error.message,
    statusCode,
    error: STATUS_CODES[statusCode],
    code: error.code,
  };
}

/** Returns a refusal's message as pages show it. */
export const sentenceOf = ({ message, messages }: DomainError): string => messages?.join('. ') ?? message;

/**
 * Puts a refusal's code into the request's log line, logs a 5xx with its cause, sets `Retry-After`, and closes the
 * connection after a 413 or 408, whose body was not fully read.
 */
export function noteRefusal(log: Logger, ctx: Context, error: DomainError): void {
  ctx.state.errorCode = isPartnerPath(ctx.path) ? partnerCodeOf(error.code) : error.code;
  const status = errorStatuses[error.code];
  if (error.retryAfterSeconds !== undefined && !ctx.headerSent) {
    ctx.set('Retry-After', String(Math.ceil(error.retryAfterSeconds)));
  }
  if ((status === 413 || status === 408) && !ctx.headerSent) ctx.set('Connection', 'close');
  if (status < 500) return;
  const level = error.code === 'INTERNAL' ? 'error' : 'warn';
  log[level]({ err: error.cause ?? error, request_id: ctx.state.requestId, path: ctx.path }, error.message);
}

/** Answers every thrown error in the envelope of its path, and logs a 5xx with its cause. */
export function presentErrors(log: Logger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (thrown) {
      const error = asDomainError(thrown);
      const status = errorStatuses[error.code];
      noteRefusal(log, ctx, error);
      if (ctx.headerSent || ctx.res.destroyed) return;
      ctx.status = status;
      ctx.set('Cache-Control', 'no-store');
      if (error.code === 'UNAUTHENTICATED' || error.code === 'AUTH_INVALID_CREDENTIALS')
        ctx.set('WWW-Authenticate', 'Bearer');
      ctx.body = presentError(error, ctx.path, ctx.state.requestId);
    }
  };
}
