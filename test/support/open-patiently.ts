import { readConfig } from '../../src/platform/config/config.ts';
import { type Dependencies, openDependencies } from '../../src/wiring/dependencies.ts';
import { eventually } from './eventually.ts';

/**
 * The dependencies of a test, once they can reach the keys of people. On a busy machine the product reports these as
 * down when a new connection takes seconds; a test waits instead. A stack whose keys database really is down starts
 * anyway.
 */
export async function openPatiently(env: Record<string, string>): Promise<Dependencies> {
  const deps = await openDependencies(readConfig(env), { process: 'test' });
  const agree = () =>
    deps.personalKeys.lookUpKey().then(
      () => true,
      () => false,
    );
  await eventually(agree, Boolean, 15_000).catch(() => undefined);
  return deps;
}
