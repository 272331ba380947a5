import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import cors from '@koa/cors';
import Koa from 'koa';
import { controlRoutes } from './control.routes.ts';
import { presentErrors } from './http.ts';
import { mailRoutes } from './mail.routes.ts';
import { startMailServer } from './mail-server.ts';
import { openOutbox } from './outbox.ts';
import { pageRoutes } from './page.routes.ts';
import { providerRoutes } from './provider.routes.ts';
import { refundJob } from './refunds.ts';
import { startScheduler } from './scheduler.ts';
import { expiryJob } from './settle-instrument.ts';
import { openStore } from './store.ts';
import { transactionRoutes } from './transactions.routes.ts';
import { transferJob } from './transfers.ts';
import { WireError } from './wire-error.ts';

export interface SandboxOptions {
  /** 0 picks a free port. */
  port: number;
  host?: string;
  dataDir: string;
  /** The URL for callbacks, which wait until it is set. */
  callbackUrl?: string | undefined;
  callbackToken: string;
  secretKey: string;
  /** The port of the mail server that catches messages; if unset, none runs. */
  smtpPort?: number | undefined;
  /** How long an unanswered request keeps its connection open; if unset, until the caller closes it. */
  silenceMs?: number | undefined;
}

export interface Sandbox {
  url: string;
  port: number;
  setCallbackUrl(url: string): void;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the sandbox provider on its data directory; unfinished work of an earlier run continues. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', secretKey, callbackToken: token } = options;
  let { callbackUrl } = options;
  const store = openStore(options.dataDir);
  const wake = () => scheduler.wake();
  const outbox = openOutbox({ store, url: () => callbackUrl, token, onSettled: wake });
  const setCallbackUrl = (url: string) => {
    callbackUrl = url;
    wake();
  };

  const app = new Koa();
  app.silent = true;
  // As with the API of `npm start`, a page served from localhost may read mail and pay.
  app.use(
    cors({ origin: ({ headers: { origin = '' } }) => (/^http:\/\/localhost(:\d+)?$/.test(origin) ? origin : '') }),
  );
  app.use(presentErrors);
  const rooms = [
    controlRoutes({ store, wake, setCallbackUrl }),
    pageRoutes({ store, wake }),
    mailRoutes({ store }),
    providerRoutes({ store, secretKey, wake, silenceMs: options.silenceMs }),
    transactionRoutes({ store, secretKey }),
  ];
  for (const room of rooms) app.use(room.routes());
  app.use(() => {
    throw new WireError(404, 'NOT_FOUND', 'the sandbox has no such path');
  });

  const server = createServer(app.callback());
  server.listen(options.port, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { smtpPort } = options;
  const mailServer = smtpPort === undefined ? null : await startMailServer(store, { port: smtpPort, host });
  const scheduler = startScheduler([transferJob(store), refundJob(store), expiryJob(store), outbox]);

  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      scheduler.stop();
      server.close();
      server.closeAllConnections();
      await outbox.stop();
      await mailServer?.stop();
      store.close();
    })();
    return stopping;
  };
  const url = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
  return { url, port, setCallbackUrl, stop, [Symbol.asyncDispose]: stop };
}
