import { TestEnvironment } from 'jest-environment-node';

const endNow = () => process.exit(1);

/**
 * Node's test environment, in a process that ends when the jest that started it is gone: with it end the API, workers
 * and servers that its tests started, which all watch their channel to it.
 */
export default class AttachedEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    if (process.channel) process.once('disconnect', endNow);
    await super.setup();
  }

  override async teardown(): Promise<void> {
    process.off('disconnect', endNow);
    await super.teardown();
  }
}
