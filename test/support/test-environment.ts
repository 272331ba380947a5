import { TestEnvironment } from 'jest-environment-node';

const endNow = () => process.exit(1);
/** How many times longer a test or a hook may take than it says, or than is usual, before it counts as hanging. */
const patience = 3;

interface Timed {
  timeout?: number | undefined;
}

/**
 * Node's test environment, in a process that ends when the jest that started it is gone: with it end the API, workers
 * and servers that its tests started, which all watch their channel to it.
 */
export default class AttachedEnvironment extends TestEnvironment {
  /** Tests and hooks that have got their time; a hook begins once for each test. */
  readonly #given = new WeakSet<Timed>();

  override async setup(): Promise<void> {
    if (process.channel) process.once('disconnect', endNow);
    await super.setup();
  }

  override async teardown(): Promise<void> {
    process.off('disconnect', endNow);
    await super.teardown();
  }

  /** A machine that is slow or busy fails no test: only what hangs does. */
  handleTestEvent({ name, hook, test }: { name: string; hook?: Timed; test?: Timed }, state: { testTimeout: number }) {
    const begun = name === 'hook_start' ? hook : name === 'test_fn_start' ? test : undefined;
    if (begun === undefined || this.#given.has(begun)) return;
    this.#given.add(begun);
    begun.timeout = patience * (begun.timeout ?? state.testTimeout);
  }
}
