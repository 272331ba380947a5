import { parseArgs } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findReconciliations } from '../../control/reconciliation/find-reconciliations.ts';
import { reconcileDay } from '../../control/reconciliation/reconcile-day.ts';
import type { Reconciliation } from '../../control/reconciliation/reconciliation.entity.ts';
import type { Side } from '../../control/reconciliation/reconciliation.ts';
import { readReconciliationConfig } from '../../platform/config/command-config.ts';
import { connectionOptions } from '../../platform/config/connection-options.ts';
import type { SweepFailure } from '../../platform/housekeeping/sweep-rows.ts';
import { createLogger } from '../../platform/process/log.ts';
import { westernIndonesiaDay } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import { createGateways } from '../gateways.ts';
import { openDatabase } from '../open-database.ts';
import { findOwner } from '../reference-owners.ts';
import { openTemporal } from '../temporal/connect.ts';
import { createWorkflows } from '../temporal/workflows.ts';
import { CommandError, runCommand } from './run-command.ts';

const usage = `Usage: npm run reconcile -- [--day YYYY-MM-DD] [--json]

Compares the provider's records of a day (UTC+7; yesterday unless given) with our books and prints every difference.
Changes no money. Exits with 1 when a difference of the day is open. Resumes an interrupted run, and is refused while
another run compares the day. Without DATABASE_URL it uses the stack that runs on DATA_DIR.`;

const dayMs = 24 * 60 * 60 * 1000;
const perPage = 100;

await runCommand(usage, async () => {
  const { values } = parseArgs({
    options: {
      day: { type: 'string', default: westernIndonesiaDay(new Date(Date.now() - dayMs)) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return usage;
  const { day } = values;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day))) {
    throw new CommandError('--day must be a date, YYYY-MM-DD');
  }
  if (day > westernIndonesiaDay(new Date())) throw new CommandError('--day must not be in the future (UTC+7)');
  await using parts = await openParts();
  const { em, gateways, workflows, log } = parts;
  const failed: SweepFailure = (_, subject, err) => log.warn({ err, subject }, 'could not wake the owner of a payment');
  const summary = await reconcileDay(
    em(),
    { gateways, workflows, findOwner, failed },
    { day, takenBy: `command/${newId()}` },
  );
  const rows = (await everyDifference(em(), day)).filter(({ state }) => state !== 'resolved');
  if (summary.open > 0) process.exitCode = 1;
  if (values.json) return JSON.stringify({ ...summary, items: rows }, null, 2);
  return [
    `${day}: ${summary.compared} records of the provider compared, ${summary.differences} differences, ` +
      `${summary.open} open, ${summary.resolved} resolved since the last run.`,
    ...rows.map(describe),
  ].join('\n');
});

/** Opens the dependencies of a comparison. */
async function openParts() {
  const config = readReconciliationConfig();
  const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: 2 });
  const temporal = openTemporal({ ...connectionOptions(config), namespace: config.TEMPORAL_NAMESPACE });
  const workflows = createWorkflows(temporal, config.TEMPORAL_TASK_QUEUE);
  return {
    em: () => orm.em.fork(),
    workflows,
    gateways: createGateways(config, { orm }),
    log: createLogger({ level: config.LOG_LEVEL, process: 'command' }),
    async [Symbol.asyncDispose]() {
      await workflows.close();
      await orm.close(true);
    },
  };
}

async function everyDifference(em: EntityManager, day: string): Promise<Reconciliation[]> {
  const found: Reconciliation[] = [];
  for (let page = 1; ; page += 1) {
    const { items, total } = await findReconciliations(em, { day }, { page, limit: perPage, order: 'asc' });
    found.push(...items);
    if (found.length >= total || items.length === 0) return found;
  }
}

function describe({ id, kind, subject, reference, ours, theirs, state, note }: Reconciliation): string {
  const say = (side: Side | null | undefined) => (side ? `${side.status} ${side.amount ?? ''}`.trim() : 'nothing');
  const why = note ? `  (${note})` : '';
  return `  ${state.padEnd(9)} ${kind.padEnd(16)} ${reference}  we: ${say(ours)}, they: ${say(theirs)}${theirs ? ` (${subject})` : ''}  ${id}${why}`;
}
