import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureWorkflowBundle } from '../../dev/bundle.ts';
import { makeKeysDatabase } from '../../dev/keys-database.ts';
import type { Part } from '../../dev/part.ts';
import { findFreePort } from '../../dev/ports.ts';
import { keysUrlBeside, postgresUrl, startPostgres } from '../../dev/postgres.ts';
import { writePrivateJson } from '../../dev/private-file.ts';
import { startS3 } from '../../dev/s3.ts';
import { startTemporal } from '../../dev/temporal.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { findTimeSkippingServer } from '../../dev/time-skipping.ts';
import { applicationRole, readerRole } from '../../src/platform/database/database-roles.ts';
import { migrate } from '../../src/wiring/commands/migrate.ts';
import { announceTestRun, type TestRun } from './run.ts';

declare global {
  var testRunParts: { parts: Part[]; directory: string; onAbandoned: () => void } | undefined;
}

const template = 'template_amanah';
const prefix = 'amanah-test-';

/**
 * A test run's data need not survive a crash of the machine. With the default interval, autovacuum would start a process
 * a second, because it divides the interval by the number of databases.
 */
const fastAndLoose = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '500',
  log_checkpoints: 'off',
  autovacuum_naptime: '30min',
};

/**
 * Starts one PostgreSQL with a migrated template, one S3 server, one Temporal server and one workflow bundle for all
 * files.
 */
export default async function globalSetup(): Promise<void> {
  removeAbandonedDirectories();
  const directory = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  const parts: Part[] = [];
  // When the channel closes, the process that started jest (test/run.ts) has exited: abandon the run.
  const onAbandoned = () => process.exit(1);
  if (process.channel) process.once('disconnect', onAbandoned);
  globalThis.testRunParts = { parts, directory, onAbandoned };
  const keepPart = async (starting: Promise<Part>) => void parts.push(await starting);
  const logFile = (name: string) => join(directory, 'logs', `${name}.log`);
  const say = (part: string) => (sentence: string) => void process.stderr.write(`${part}: ${sentence}\n`);

  const [postgresPort, s3Port, temporalPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const postgres = { port: postgresPort, password: randomBytes(12).toString('hex'), template };
  const s3 = {
    directory: join(directory, 's3'),
    port: s3Port,
    bucket: 'amanah',
    accessKeyId: 'test',
    secretAccessKey: randomBytes(12).toString('hex'),
  };

  async function preparePostgres(): Promise<void> {
    const options = { ...postgres, directory: join(directory, 'postgres'), database: template, settings: fastAndLoose };
    await keepPart(startPostgres(options, { logFile: logFile('postgres') }));
    const { password } = postgres;
    const url = postgresUrl(options);
    await migrate(url, { [applicationRole]: password, [readerRole]: password });
    await makeKeysDatabase(keysUrlBeside(url));
  }
  async function prepareTemporal(): Promise<string> {
    // Makes Temporal collect garbage less often, which saves a tenth of its CPU time, also for processes of tests.
    process.env.GOGC ??= '400';
    const binary = await findTemporalBinary(say('Temporal'));
    await keepPart(startTemporal({ binary, port: temporalPort }, { logFile: logFile('temporal') }));
    return binary;
  }
  const findTimeSkipping = () =>
    findTimeSkippingServer(say('time-skipping server')).then(
      (path) => ({ path }),
      (error: unknown) => ({ missing: String(error) }),
    );

  const [, , binary, workflowBundle, timeSkipping] = await Promise.all([
    preparePostgres(),
    keepPart(startS3(s3, { logFile: logFile('s3') })),
    prepareTemporal(),
    ensureWorkflowBundle({ logFile: logFile('bundle') }),
    findTimeSkipping(),
  ]);
  const temporal = { address: `127.0.0.1:${temporalPort}`, binary };
  const run: TestRun = { directory, postgres, s3, temporal, workflowBundle, timeSkipping };
  writePrivateJson(join(directory, 'run.json'), run);
  announceTestRun(join(directory, 'run.json'));
}

/** Removes the scratch directories of killed runs, whose processes have exited. */
function removeAbandonedDirectories(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length).split('-')[0]);
    if (!isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
