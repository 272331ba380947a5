import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Loads a package of this directory, which `npm run test:tools` installs; `T` is the part that the test uses. */
export const loadTool = async <T>(name: string): Promise<T> => (await import(name)) as T;

/** Whether the package is installed; in CI always true, so that nothing is skipped there. */
export const hasTool = (name: string): boolean =>
  Boolean(process.env.CI) || existsSync(join(import.meta.dirname, 'node_modules', name));

/** Returns `describe`; if `what` is missing, prints how to install it and returns a `describe` that skips. */
export function describeWith(isThere: boolean, what: string): jest.Describe {
  if (isThere) return describe;
  process.stderr.write(`Skipped because ${what} is missing: install it once with npm run test:tools.\n`);
  return describe.skip;
}
