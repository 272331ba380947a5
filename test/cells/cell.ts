/**
 * A cell as a process: a worker for its own workflows, and a route from which the other cell requests verdicts. Kills
 * itself at each failpoint with the given probability.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { NativeConnection, Worker } from '@temporalio/worker';
import pg from 'pg';
import { z } from 'zod';
import { readPartOptions } from '../../dev/part.ts';
import type { Transfer, TransferSteps, Verdict } from './transfer.ts';

const cellOptions = z.object({
  databaseUrl: z.string(),
  port: z.number(),
  otherUrl: z.string(),
  temporalAddress: z.string(),
  taskQueue: z.string(),
  workflowBundle: z.string(),
  /** The probability of death at each failpoint, from 0 to 1. */
  deathChance: z.number(),
});
export type CellOptions = z.infer<typeof cellOptions>;

async function run(): Promise<void> {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  const options = cellOptions.parse(readPartOptions());
  const pool = new pg.Pool({ connectionString: options.databaseUrl, max: 8 });
  pool.on('error', () => undefined);
  const arrow = (): void => {
    if (Math.random() < options.deathChance) process.kill(process.pid, 'SIGKILL');
  };
  const inDatabase = async <T>(sql: string, values: unknown[]): Promise<T> => {
    arrow();
    const { rows } = await pool.query(sql, values);
    arrow();
    return rows[0]?.result as T;
  };
  const server = createServer(async (request, response) => {
    try {
      const { id, toAccountId, amount } = (await json(request)) as Transfer;
      const verdict = await inDatabase('select judge_transfer($1, $2, $3) as result', [id, toAccountId, amount]);
      response.end(JSON.stringify({ verdict }));
    } catch {
      response.writeHead(503).end();
    }
  });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');

  const steps: TransferSteps = {
    sendTransfer: ({ id, fromAccountId, toAccountId, amount }) =>
      inDatabase('select send_transfer($1, $2, $3, $4)', [id, fromAccountId, toAccountId, amount]),
    async askForVerdict(transfer) {
      const answer = await fetch(options.otherUrl, {
        method: 'POST',
        body: JSON.stringify(transfer),
        signal: AbortSignal.timeout(3_000),
      });
      arrow();
      if (!answer.ok) throw new Error(`the other cell answered ${answer.status}: its verdict is unknown`);
      return ((await answer.json()) as { verdict: Verdict }).verdict;
    },
    concludeTransfer: (id, verdict) => inDatabase('select conclude_transfer($1, $2)', [id, verdict]),
  };
  const connection = await NativeConnection.connect({ address: options.temporalAddress });
  const worker = await Worker.create({
    connection,
    taskQueue: options.taskQueue,
    workflowBundle: { codePath: options.workflowBundle },
    activities: { ...steps },
    stickyQueueScheduleToStartTimeout: '1s',
  });
  const running = worker.run();
  process.send?.('ready');
  await running;
}

if (import.meta.main) await run();
