import { errorCodeOf } from '../../src/shared/errors.ts';
import { askAgain, type HttpAnswer } from './http.ts';

/** Retries, as clients do, when an overloaded machine or the rate limit asks for it, after the requested time. */
export const asAClient = (ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> => askAgain(ask, { on: [503, 429] });

/** A connection that was closed, or took too long to open; not a refused one, as without a listener. */
const lostConnection = new Set<unknown>(['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * The same for a request that reads or has an idempotency key: it is also retried when its connection was lost before
 * the answer. A slow client may use a connection that the server has closed after idling.
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
