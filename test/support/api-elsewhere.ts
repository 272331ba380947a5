import { once } from 'node:events';
import { readConfig } from '../../src/platform/config/config.ts';
import { createApp } from '../../src/wiring/app.ts';
import { openDependencies } from '../../src/wiring/dependencies.ts';
import { createHttp, type Http } from './http.ts';
import type { Stack } from './stack.ts';

/** Runs the work against a second API over the stack's dependencies, which has cached no key. */
export async function withApiElsewhere(stack: Stack, work: (http: Http) => Promise<void>): Promise<void> {
  await using deps = await openDependencies(readConfig({ ...stack.env, LOG_LEVEL: 'silent' }), { process: 'test' });
  const server = createApp(deps).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const bound = server.address();
    await work(createHttp(`http://127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
