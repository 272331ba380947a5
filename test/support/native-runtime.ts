import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const circusHandlers = Symbol.for('EVENT_HANDLERS');

/**
 * Jest's runtime without a sandbox: Node itself imports the test files, so a jest worker loads the product once instead
 * of once per file, and a running stack outlives the file that started it (shared-stacks.ts). Only circus is reset for
 * each file. There are no module mocks, fake timers or coverage: no test here uses them.
 */
export default class NativeRuntime {
  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  async unstable_importModule(path: string): Promise<unknown> {
    return import(pathToFileURL(path).href);
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  /** Circus stores the state of a file in its module and in one global. */
  requireInternalModule(path: string): unknown {
    delete require.cache[require.resolve(path)];
    Reflect.deleteProperty(globalThis, circusHandlers);
    return require(path);
  }

  getSourceMaps(): null {
    return null;
  }

  getAllCoverageInfoCopy(): undefined {
    return undefined;
  }

  setGlobalsForRuntime(): void {}

  enterTestCode(): void {}

  leaveTestCode(): void {}

  teardown(): void {}
}
