import { errorCodeOf } from '../../src/shared/errors.ts';
import { askAgain, type HttpAnswer } from './http.ts';

/** Asks again, as clients do, when a machine out of breath or the rate limit says so, after the time it names. */
export const asAClient = (ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> => askAgain(ask, { on: [503, 429] });

const endedConnection = new Set<unknown>(['ECONNRESET', 'UND_ERR_SOCKET']);
const mostConnections = 5;

/**
 * The same for a request that has an idempotency key, or reads: it is asked again, too, where its connection ended
 * without an answer. A client that is late takes one that was idle for so long that the server closes it.
 */
export const asAKeyedClient = (ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> =>
  asAClient(async () => {
    for (let taken = 1; ; taken += 1) {
      try {
        return await ask();
      } catch (error) {
        const { cause } = error as Error;
        if (taken === mostConnections || !endedConnection.has(errorCodeOf(cause))) throw error;
        process.stderr.write(`a connection ended without an answer (${String(cause)}), and another is taken\n`);
      }
    }
  });
