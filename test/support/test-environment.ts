const endNow = () => process.exit(1);
/** Jest's message to an idle worker, whose shared stacks would keep it alive, and are stopped then. */
const lastMessage = 2;
const endWhenAsked = (message: unknown) => {
  if (Array.isArray(message) && message[0] === lastMessage) process.exit(0);
};
/** By what factor a test or hook may exceed its declared or default time-out before it counts as hanging. */
const patience = 3;

interface Timed {
  timeout?: number | undefined;
}

/**
 * Node itself as the environment of the tests (native-runtime.ts), in a process that exits when the jest that started
 * it has exited: the API, workers and servers that its tests started exit with it, as they all watch their channel to
 * it.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = null;
  readonly fakeTimers = null;
  readonly fakeTimersModern = null;
  /** Tests and hooks whose time-out has been extended; a hook starts once for each test. */
  readonly #given = new WeakSet<Timed>();
  readonly #ours = { console: globalThis.console, exit: process.exit };

  async setup(): Promise<void> {
    if (!process.channel) return;
    process.once('disconnect', endNow);
    process.off('message', endWhenAsked);
    process.on('message', endWhenAsked);
  }

  /** Jest replaces our console by the file's, and wraps `process.exit`. */
  async teardown(): Promise<void> {
    process.off('disconnect', endNow);
    globalThis.console = this.#ours.console;
    process.exit = this.#ours.exit;
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  getVmContext(): null {
    return null;
  }

  /** A slow or busy machine fails no test; only a hang does. */
  handleTestEvent({ name, hook, test }: { name: string; hook?: Timed; test?: Timed }, state: { testTimeout: number }) {
    const begun = name === 'hook_start' ? hook : name === 'test_fn_start' ? test : undefined;
    if (begun === undefined || this.#given.has(begun)) return;
    this.#given.add(begun);
    begun.timeout = patience * (begun.timeout ?? state.testTimeout);
  }
}
