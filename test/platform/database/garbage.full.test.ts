import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serviceNodeOptions } from '../../../dev/service-parts.ts';
import { type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true });
});
afterAll(() => stack.stop());

describe('Query results in memory', () => {
  it('Query results are freed with the young generation and do not fill the old one', async () => {
    const script = join(import.meta.dirname, 'measure-garbage.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...serviceNodeOptions,
      script,
      stack.databaseUrls.app,
    ]);
    // Each statement returns rows of about 13,000 bytes in all.
    expect(Number(stdout)).toBeGreaterThan(0);
    expect(Number(stdout)).toBeLessThan(3_000);
  }, 120_000);
});
