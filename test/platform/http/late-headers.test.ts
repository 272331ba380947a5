import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { createHttpServer } from '../../../src/platform/http/create-http-server.ts';
import { eventually } from '../../support/eventually.ts';

const headersMs = 200;
const lookEveryMs = 50;

let server: Server;
let served: string[];
beforeEach(async () => {
  served = [];
  const serve = (request: { url?: string }, response: { end(text: string): void }) => {
    served.push(request.url ?? '');
    if (request.url === '/slow') globalThis.setTimeout(() => response.end('served'), headersMs);
    else response.end('served');
  };
  server = createHttpServer(serve, { maxConnections: 10, headersMs, lookEveryMs });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function open(): Promise<{ socket: Socket; heard(): string }> {
  const accepted = once(server, 'connection');
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  let heard = '';
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  socket.on('error', () => socket.destroy());
  await Promise.all([accepted, once(socket, 'connect')]);
  return { socket, heard: () => heard };
}

/** Blocks this process, server and client, as if its machine had paused it. */
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe('Headers that arrive too late', () => {
  it('A request whose headers arrive late gets a 408 and is never executed, even once complete', async () => {
    const { socket, heard } = await open();
    socket.write('POST /late HTTP/1.1\r\nhost: x\r\n');
    await eventually(
      async () => heard(),
      (text) => text.startsWith('HTTP/1.1 408'),
    );
    socket.end('content-length: 0\r\n\r\n');
    await once(socket, 'close');
    expect(served).toEqual([]);
  });

  it('Headers are not late if the process that should have read them was paused', async () => {
    const { socket, heard } = await open();
    socket.write('POST /in-time HTTP/1.1\r\nhost: x\r\n');
    // Continues in the phase of the event loop after which timers run before reads.
    await setImmediate();
    socket.write('content-length: 0\r\n\r\n');
    standStill(headersMs + 10 * lookEveryMs);
    await eventually(
      async () => heard(),
      (text) => text.endsWith('served'),
    );
    await setTimeout(4 * lookEveryMs);
    expect(served).toEqual(['/in-time']);
    expect(heard()).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });
});

describe('Unreadable bytes after a pending request', () => {
  it.each([
    '{}\r\n\r\n',
    'POST /next HTTP/1.1\r\nhost: x\r\n',
    'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n',
    'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\nGET /tunnelled HTTP/1.1\r\nhost: x\r\n\r\n',
  ])('Unreadable bytes after a pending request close the connection without an error response (%j)', async (rest) => {
    const { socket, heard } = await open();
    socket.on('end', () => socket.end());
    socket.write(`POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n${rest}`);
    await once(socket, 'close');
    expect(served).toEqual(['/slow']);
    expect(['', 'HTTP/1.1 200 OK']).toContain(heard().split('\r\n')[0]);
  });
});

describe('Requests after a fatally malformed one on the same connection', () => {
  it.each([
    'GET /nameless HTTP/1.1\r\n\r\n',
    'GET /magic HTTP/1.1\r\nhost: x\r\nexpect: magic\r\n\r\n',
    'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n',
  ])(
    'A request after a malformed one is not served, and earlier ones get their responses in order (%j)',
    async (refused) => {
      const { socket, heard } = await open();
      socket.on('end', () => socket.end());
      socket.write('GET /first HTTP/1.1\r\nhost: x\r\n\r\n');
      await eventually(
        async () => heard(),
        (text) => text.endsWith('served'),
      );
      socket.write(`${refused}POST /after HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`);
      await once(socket, 'close');
      expect(served).toEqual(['/first']);
      expect(heard().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    },
  );

  it('A request after a malformed one is not served, and an earlier pending response is still sent', async () => {
    const { socket, heard } = await open();
    socket.on('end', () => socket.end());
    const [slow, nameless, after] = ['/slow HTTP/1.1\r\nhost: x', '/nameless HTTP/1.1', '/after HTTP/1.1\r\nhost: x'];
    socket.write(`GET ${slow}\r\n\r\nGET ${nameless}\r\n\r\nGET ${after}\r\n\r\n`);
    await once(socket, 'close');
    expect(served).toEqual(['/slow']);
    expect(heard().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });
});
