import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A package of this directory, which `npm run test:tools` installs; `T` is what the test uses of it. */
export const loadTool = async <T>(name: string): Promise<T> => (await import(name)) as T;

/** Whether the package is installed; in CI all of them must be, so that nothing is skipped there. */
export const hasTool = (name: string): boolean =>
  Boolean(process.env.CI) || existsSync(join(import.meta.dirname, 'node_modules', name));

/** `describe`, or where `what` is missing one that skips its tests after printing how to install it. */
export function describeWith(isThere: boolean, what: string): jest.Describe {
  if (isThere) return describe;
  process.stderr.write(`Skipped because ${what} is missing: install it once with npm run test:tools.\n`);
  return describe.skip;
}
