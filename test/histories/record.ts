import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { forgetHistories } from '../support/record-histories.ts';

/**
 * `npm run histories:record`: runs the tests that run workflows and keeps one history of each path of each workflow
 * type. Do this when a workflow is new or has a new path; a recording that still has to replay is not thrown away
 * (`--all` begins anew, before a first release only).
 */
const directory = join(import.meta.dirname, 'recorded');
const [first, ...rest] = process.argv.slice(2);
if (first === '--all') forgetHistories(directory);
const patterns = first === '--all' || first === undefined ? rest : [first, ...rest];
const { status } = spawnSync(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...patterns],
  { stdio: 'inherit', env: { ...process.env, AMANAH_RECORD_HISTORIES: directory } },
);
process.exitCode = status ?? 1;
