import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { version } from '../../src/shared/version.ts';

/**
 * `npm run histories:record [-- <test files>]`: runs tests, by default all that run workflows, and stores one history
 * for each outcome of each workflow, in the directory of this version. Run it when a workflow or an outcome is new.
 */
const { status } = spawnSync(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    env: { ...process.env, AMANAH_RECORD_HISTORIES: join(import.meta.dirname, 'recorded', version) },
  },
);
process.exitCode = status ?? 1;
