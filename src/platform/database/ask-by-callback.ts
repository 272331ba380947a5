import type { PoolClient } from './lost-connections.ts';

/** A cursor or a stream, which the client runs as it is. */
const isSubmittable = (config: unknown): boolean =>
  typeof config === 'object' && config !== null && 'submit' in config && typeof config.submit === 'function';

/**
 * Makes a connection answer each statement to a callback of ours, and that to a promise. With the promise that `pg` itself
 * makes, which sets its callback on a query that exists already, nothing that a statement has returned is free when the
 * young generation is collected: V8 moves all of it to the old one until that is collected as a whole, which a busy API
 * did once a second, for tens of milliseconds. Measured by `test/platform/database/garbage.full.test.ts`; why V8 does it, we do not
 * know.
 */
export function askByCallback(client: PoolClient): void {
  const query = client.query.bind(client);
  client.query = (config, ...rest) => {
    if (isSubmittable(config) || rest.some((argument) => typeof argument === 'function')) return query(config, ...rest);
    return new Promise((resolve, reject) => {
      query(config, rest[0], (error: unknown, result: unknown) => (error ? reject(error) : resolve(result)));
    });
  };
}
