import { errorCodeOf } from '../../src/shared/errors.ts';
import { askAgain, type HttpAnswer } from './http.ts';

/** Retries a 503 or 429 after the requested time, as clients do. */
export const asAClient = (ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> => askAgain(ask, { on: [503, 429] });

/** A connection that was closed or took too long to open. A refused connection, without a listener, does not count. */
const lostConnection = new Set<unknown>(['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * Like `asAClient`, for reads and requests with an idempotency key: also retries when the connection was lost before
 * the answer. A slow client may use an idle connection that the server has closed.
 */
export const asAKeyedClient = (ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> =>
  asAClient(async () => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        const { cause } = error as Error;
        if (!lostConnection.has(errorCodeOf(cause))) throw error;
        process.stderr.write(`a connection was lost without an answer (${String(cause)}), retrying on another\n`);
      }
    }
  });
