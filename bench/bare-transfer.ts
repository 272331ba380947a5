import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { quantile } from './figures.ts';

/** The number of accounts, users and causes; the first account is the hot one. */
export const accountCount = 1000;

/** The bare two-account transfer: a payment and nothing else. Balances never go below zero. */
export const bareSchema = `
create table bare_accounts (id uuid primary key, n integer unique not null, balance numeric(20, 4) not null check (balance >= 0))
  with (fillfactor = 60);
insert into bare_accounts select gen_random_uuid(), n, 1000000000 from generate_series(1, ${accountCount}) n;
create function bare_transfer(p_source uuid, p_target uuid, p_amount numeric) returns text language plpgsql as $$
declare
  left_over numeric;
begin
  if p_source < p_target then
    update bare_accounts set balance = balance - p_amount where id = p_source returning balance into left_over;
    update bare_accounts set balance = balance + p_amount where id = p_target;
  else
    update bare_accounts set balance = balance + p_amount where id = p_target;
    update bare_accounts set balance = balance - p_amount where id = p_source returning balance into left_over;
  end if;
  return left_over::text;
end $$;`;

export interface BareResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

interface BareLoad {
  databaseUrl: string;
  connections: number;
  seconds: number;
  hot: boolean;
  /** The ids of the bare accounts; the first one is the hot one. */
  ids: readonly string[];
}

/** Whether pgbench is installed on this machine; the embedded package does not include it. */
export const hasPgbench = (): boolean => spawnSync('pgbench', ['--version']).status === 0;

/** Runs the bare transfer under load: by pgbench if installed, otherwise by our own clients. */
export const runBareTransfer = (load: BareLoad): Promise<BareResult> =>
  hasPgbench() ? runPgbench(load) : runClients(load);

/** The shortest run of pgbench in seconds; its time includes connecting. */
const leastSeconds = (connections: number): number => Math.max(3, Math.ceil(connections / 20));

const randomAccount = (limit: number) => 1 + Math.floor(Math.random() * limit);

async function runPgbench({ databaseUrl, connections, seconds, hot }: BareLoad): Promise<BareResult> {
  const directory = mkdtempSync(join(tmpdir(), 'amanah-pgbench-'));
  try {
    const script = join(directory, 'transfer.sql');
    const byNumber = (name: string) => `(select id from bare_accounts where n = :${name})`;
    const target = hot ? '\\set b 1' : `\\set b 1 + (:a + random(0, ${accountCount - 2})) % ${accountCount}`;
    writeFileSync(
      script,
      `\\set a random(2, ${accountCount})\n${target}\nselect bare_transfer(${byNumber('a')}, ${byNumber('b')}, 1);\n`,
    );
    const { hostname, port, username, password, pathname } = new URL(databaseUrl);
    const log = join(directory, 'log');
    const args = [
      ['-h', hostname, '-p', port, '-U', username, '-n', '-M', 'prepared', '-f', script],
      [
        '-c',
        String(connections),
        '-j',
        connections === 1 ? '1' : '2',
        '-T',
        String(Math.max(seconds, leastSeconds(connections))),
      ],
      ['-l', `--log-prefix=${log}`, '--sampling-rate=0.2', pathname.slice(1)],
    ].flat();
    const env = { ...process.env, PGPASSWORD: decodeURIComponent(password) };
    const { stdout } = await promisify(execFile)('pgbench', args, { env, cwd: directory });
    const perSecond = Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1]);
    if (!(perSecond > 0)) throw new Error(`pgbench reported no transactions: ${stdout}`);
    const latencies = (await promisify(execFile)('sh', ['-c', `cat ${log}*`], { maxBuffer: 1 << 28 })).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Number(line.split(' ')[2]) / 1000);
    return { perSecond, ...percentiles(latencies) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runClients({ databaseUrl, connections, seconds, hot, ids }: BareLoad): Promise<BareResult> {
  const latencies: number[] = [];
  const until = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      while (performance.now() < until) {
        const source = randomAccount(accountCount - 1);
        const target = hot ? 0 : (source + randomAccount(accountCount - 1)) % accountCount;
        const sent = performance.now();
        await client.query({
          name: 'bare',
          text: 'select bare_transfer($1, $2, 1)',
          values: [ids[source], ids[target]],
        });
        latencies.push(performance.now() - sent);
      }
      await client.end();
    }),
  );
  return { perSecond: latencies.length / seconds, ...percentiles(latencies) };
}

const percentiles = (latencies: readonly number[]) => ({
  p50Ms: quantile(latencies, 0.5),
  p99Ms: quantile(latencies, 0.99),
});
