/** The part of a `pg` client that is used here; its types are only a transitive dependency, through the ORM. */
export interface PoolClient {
  query(config: unknown, ...rest: unknown[]): unknown;
  end(): Promise<void>;
}

export const isBegin = (sql: unknown): boolean => typeof sql === 'string' && /^(begin|start transaction)\b/i.test(sql);
export const isRollback = (sql: unknown): boolean => typeof sql === 'string' && /^rollback$/i.test(sql);

/**
 * Removes a connection that was lost in a transaction from its pool. The query builder releases a connection only after
 * a successful `begin`, `commit` or `rollback`, so one that the server closed (a time-out, a restart) would occupy the
 * pool forever. The transaction ended with the connection: its rollback is reported as successful, and after a failed
 * `begin` the next statement fails.
 */
export function releaseWhenLost(client: PoolClient): void {
  const query = client.query.bind(client);
  let lost: unknown;
  const leave = (error: unknown) => {
    lost = error;
    void client.end().catch(() => undefined);
    return {};
  };
  client.query = (config, ...rest) => {
    if (isRollback(config)) return lost ? Promise.resolve({}) : Promise.resolve(query(config, ...rest)).catch(leave);
    if (lost) return Promise.reject(lost);
    return isBegin(config) ? Promise.resolve(query(config, ...rest)).catch(leave) : query(config, ...rest);
  };
}
