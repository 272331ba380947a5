import { trace } from '@opentelemetry/api';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger } from 'pino';

/** Fields that are never logged, at the top level or up to two levels down. */
const redacted = [
  'password',
  'authorization',
  'cookie',
  'access_token',
  'api_key',
  'signing_secret',
  'token',
  'email',
  'name',
  'phone_number',
  'bank_account_number',
  'account_holder',
].flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/** Maximum bytes of lines waiting to be written; further lines are dropped. */
const mostWaitingBytes = 1024 * 1024;

/**
 * Writes lines at once, without waiting for the reader. Lines that cannot be written, because the disk is full or the
 * reader is slow, are retried with the next ones; requests never wait or fail because of them.
 */
function openOutput(): DestinationStream {
  const output = pino.destination({
    dest: 1,
    sync: true,
    maxLength: mostWaitingBytes,
    retryEAGAIN: () => false,
  });
  output.on('error', () => undefined);
  return output;
}

/**
 * Creates the process's log: one JSON object per line. Errors are logged by type, code and stack. A database error's
 * message can quote values, so only its type, code and stack frames are kept.
 */
export function createLogger(
  options: { level: string; process: string },
  output: DestinationStream = openOutput(),
): Logger {
  const settings: LoggerOptions = {
    level: options.level,
    base: { process: options.process },
    mixin: () => {
      const span = trace.getActiveSpan()?.spanContext();
      return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
    },
    redact: { paths: redacted, censor: '[redacted]' },
    serializers: { err: presentError },
  };
  return pino(settings, output);
}

function presentError(error: unknown): object {
  if (typeof error !== 'object' || error === null) return { message: String(error).slice(0, 200) };
  const { name, code, stack } = error as { name?: unknown; code?: unknown; stack?: unknown };
  const quotesValues = typeof name === 'string' && /Exception|DriverError|DatabaseError/.test(name);
  const cause = 'cause' in error && error.cause !== undefined ? { cause: presentError(error.cause) } : {};
  if (quotesValues || /^[0-9A-Z]{5}$/.test(String(code))) {
    const frames = String(stack)
      .split('\n')
      .filter((line) => /^\s+at /.test(line));
    return { type: name, code, stack: frames.slice(0, 8).join('\n') };
  }
  return { type: name, code, stack: String(stack).slice(0, 4000), ...cause };
}
