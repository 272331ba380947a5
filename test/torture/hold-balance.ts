import pg from 'pg';

/** A connection in a transaction that has locked the last debited balance, as a payment does. */
export interface Holder extends AsyncDisposable {
  /** The pid of the connection's backend. */
  pid: number;
  accountId: string;
}

const connectMs = 5_000;

/** Locks the balance; returns undefined if no account has been debited yet, or all are locked. */
export async function holdBalance(url: string): Promise<Holder | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs });
  // The database may be killed during the hold.
  client.on('error', () => undefined);
  await client.connect();
  const end = () => client.end().catch(() => undefined);
  await client.query('begin');
  const { rows } = await client.query<{ pid: number; account_id: string }>(
    `select pg_backend_pid() as pid, b.account_id from account_balances b where b.shard = 0 and b.account_id in (
       select account_id from (select account_id, id from postings where amount < 0 order by id desc limit 40) recent)
     limit 1 for update of b skip locked`,
  );
  const [held] = rows;
  if (held === undefined) {
    await end();
    return undefined;
  }
  return {
    pid: held.pid,
    accountId: held.account_id,
    async [Symbol.asyncDispose]() {
      await client.query('rollback').catch(() => undefined);
      await end();
    },
  };
}
