import { parseArgs } from 'node:util';
import type { Backlog } from '../../control/operations/read-overview.ts';
import { type CheckResult, runChecksPatiently, type UnreadCheck } from '../../ledger/run-checks.ts';
import { createSealKeys } from '../../ledger/seals/seal-keys.ts';
import type { SealDifference } from '../../ledger/seals/seal-objects.ts';
import { type SealVerdict, verifySeals } from '../../ledger/seals/verify-seals.ts';
import { type ArchiveVerdict, verifyArchives } from '../../platform/archive/verify-archives.ts';
import { readVerificationConfig } from '../../platform/config/command-config.ts';
import { openStorage } from '../../platform/storage/storage.ts';
import { readBacklog } from '../measure-backlog.ts';
import { openDatabase } from '../open-database.ts';
import { runCommand } from './run-command.ts';

const usage = `Usage: npm run verify [-- --json]

Reads every check_* view of the database and prints its rows; each is empty when the books are in order. Then reads
every seal with its journals and its object in the file store and names what differs, checks that the objects of
archived months exist, and prints what waits for people or a retry, by kind: money at the provider without a receipt
here, payouts whose outcome is unknown, rows whose workflow is late. Exits with 1 when something is wrong, with 2 when
the objects in the file store could not be compared, and with 3 when it failed or could not read one of the views,
which then proves nothing. It reads the database of READER_DATABASE_URL, or DATABASE_URL, with the file store of S3_*
and the keys of SEAL_SIGNING_KEY and SEAL_VERIFICATION_KEYS; without either database it uses the stack that runs on
DATA_DIR.`;

/** Not 2, which means that the seals' objects could not be compared. */
const couldNotVerify = 3;

await runCommand(usage, verify, couldNotVerify);

async function verify(): Promise<string> {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, help: { type: 'boolean' } } });
  if (values.help) return usage;
  const config = readVerificationConfig();
  const keys = createSealKeys(config);
  const storage = openStorage(config);
  const orm = await openDatabase({ url: config.database, poolSize: 1 });
  try {
    const { results, unread } = await runChecksPatiently(orm.em.fork());
    if (results.some(({ violations }) => violations > 0)) process.exitCode = 1;
    // Printed immediately: the next check takes long and may abort the command.
    if (!values.json) process.stdout.write(`${table(results, unread)}\n\n`);
    const seals = await verifySeals(orm.em, { storage, keys });
    const archives = await verifyArchives(orm.em.fork(), storage);
    const waiting = (await readBacklog(orm.em.fork())).filter(({ rows }) => rows > 0);
    if (seals.differences + archives.differences.length > 0) process.exitCode = 1;
    else if (unread.length > 0) process.exitCode ??= couldNotVerify;
    else if ((seals.objectsNotCompared ?? archives.objectsNotCompared) !== null) process.exitCode ??= 2;
    return values.json
      ? JSON.stringify({ checks: results, unread, seals, archives, waiting }, null, 2)
      : [describe(seals), ...tellArchives(archives), list(waiting)].join('\n\n');
  } finally {
    await orm.close(true);
    storage.close();
  }
}

function list(waiting: Backlog[]): string {
  if (waiting.length === 0) return 'Nothing is waiting.';
  const lines = waiting.map(
    ({ what, rows, oldest }) => `  ${what}: ${rows}, since ${oldest?.toISOString() ?? 'unknown'}`,
  );
  return ['Waiting for a person or a retry (docs/runbook):', ...lines].join('\n');
}

function describe(verdict: SealVerdict): string {
  const { seals, journals, unsealed, last, differences, sample, objectsNotCompared, beingStored, publicKeys } = verdict;
  const more = differences - sample.length;
  return [
    `${seals} seals over ${journals} journals; ${unsealed} wait for the next one.`,
    ...(last ? [`The last: seal ${last.number} of ${last.sealed_at}, ${last.hash}`] : []),
    ...publicKeys.map(({ id, publicKey }) => `Public key ${id}:${publicKey}`),
    ...(beingStored === null ? [] : [`The object of seal ${beingStored} is being stored.`]),
    ...(objectsNotCompared === null ? [] : [`The objects of the seals were NOT compared: ${objectsNotCompared}.`]),
    ...sample.map((difference) => `  ${sentence(difference)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    differences === 0 ? 'Nothing differs from what was sealed.' : `${differences} differences from what was sealed.`,
  ].join('\n');
}

function tellArchives({ months, differences, objectsNotCompared }: ArchiveVerdict): string[] {
  if (months === 0) return [];
  const lines = [
    `${months} archived months of tables.`,
    ...(objectsNotCompared === null ? [] : [`Their objects were NOT compared: ${objectsNotCompared}.`]),
    ...differences.map((difference) => `  ${difference}`),
    differences.length === 0 ? 'Nothing differs from what was archived.' : `${differences.length} differences.`,
  ];
  return [lines.join('\n')];
}

function sentence({ seal, journal, what }: SealDifference): string {
  return [seal === null ? '' : `seal ${seal}: `, journal === null ? '' : `the journal ${journal} `, what].join('');
}

function table(results: CheckResult[], unread: UnreadCheck[]): string {
  const width = Math.max(...[...results, ...unread].map(({ check }) => check.length));
  const lines = results.flatMap(({ check, violations, sample }) => [
    `${check.padEnd(width)}  ${violations === 0 ? 'ok' : `${violations} violations`}`,
    ...sample.map((row) => `${' '.repeat(width)}    ${JSON.stringify(row)}`),
  ]);
  const notRead = unread.map(({ check, why }) => `${check.padEnd(width)}  NOT READ: ${why}`);
  const failed = results.filter(({ violations }) => violations > 0).length;
  const verdicts = [
    ...(failed > 0 ? [`${failed} of ${results.length} checks failed.`] : []),
    ...(unread.length > 0 ? [`${unread.length} could not be read and prove nothing.`] : []),
  ];
  return [...lines, ...notRead, '', verdicts.length === 0 ? 'The books are in order.' : verdicts.join(' ')].join('\n');
}
