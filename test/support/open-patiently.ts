import { readConfig } from '../../src/platform/config/config.ts';
import { type Dependencies, openDependencies } from '../../src/wiring/dependencies.ts';
import { eventually } from './eventually.ts';

/**
 * Opens a test's dependencies and waits until they reach the keys database. On a busy machine a new connection may take
 * seconds, for which the product reports the database as down. If it really is down, the stack starts anyway.
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
