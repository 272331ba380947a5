const endNow = () => process.exit(1);
/** Jest's message that asks an idle worker to exit; its shared stacks would keep it alive. */
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
 * Node itself as the environment of the tests (native-runtime.ts). Its process exits when the jest that started it has
 * exited; the APIs, workers and servers that tests started watch their channel to it, and exit too.
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

  /** Restores the console, which Jest replaces, and `process.exit`, which it wraps. */
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

  /** Extends time-outs, so that only a hang fails a test, not a slow machine. */
  handleTestEvent({ name, hook, test }: { name: string; hook?: Timed; test?: Timed }, state: { testTimeout: number }) {
    const begun = name === 'hook_start' ? hook : name === 'test_fn_start' ? test : undefined;
    if (begun === undefined || this.#given.has(begun)) return;
    this.#given.add(begun);
    begun.timeout = patience * (begun.timeout ?? state.testTimeout);
  }
}
