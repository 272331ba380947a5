import { readFileSync } from 'node:fs';

/** The state that all files of a test run share, created by global-setup.ts. */
export interface TestRun {
  /** The run's scratch directory, removed when the run finishes. */
  directory: string;
  /** The password of the owner and of the roles. */
  postgres: { port: number; password: string; template: string };
  s3: { directory: string; port: number; bucket: string; accessKeyId: string; secretAccessKey: string };
  temporal: { address: string; binary: string };
  workflowBundle: string;
  /** The time-skipping server's executable, or why it is missing. */
  timeSkipping: { path: string } | { missing: string };
}

const variable = 'AMANAH_TEST_RUN';

export const announceTestRun = (file: string): void => {
  process.env[variable] = file;
};

/** The run that this test file belongs to. */
export function testRun(): TestRun {
  return JSON.parse(readFileSync(process.env[variable] ?? '', 'utf8')) as TestRun;
}

/** Whether this is `npm run test:full`. */
export const isFullRun = (): boolean => process.env.AMANAH_FULL === '1';
