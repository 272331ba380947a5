import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { startTcpProxy, type TcpProxy } from '../../dev/tcp-proxy.ts';

let server: Server;
let proxy: TcpProxy;
let served: string[];
const longAnswer = 'x'.repeat(20_000);

beforeEach(async () => {
  served = [];
  server = createServer((request, response) => {
    served.push(request.url ?? '');
    response.end(longAnswer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  proxy = await startTcpProxy('test', [typeof address === 'object' && address !== null ? address.port : 0]);
});
afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
});

const ask = (path = '/', signal = AbortSignal.timeout(10_000)) =>
  fetch(`http://127.0.0.1:${proxy.port}${path}`, { signal, headers: { connection: 'close' } }).then((answer) =>
    answer.text(),
  );

it('A proxy forwards complete requests and responses', async () => {
  expect(await ask()).toBe(longAnswer);
});

it('A delaying proxy delays requests and responses', async () => {
  proxy.set({ kind: 'delay', ms: 150 });
  const before = performance.now();
  expect(await ask()).toBe(longAnswer);
  expect(performance.now() - before).toBeGreaterThanOrEqual(290);
});

it('A black-hole proxy forwards nothing until it is switched off, and then everything it held back', async () => {
  proxy.set({ kind: 'black-hole' });
  let answered = false;
  const asking = ask('/', AbortSignal.timeout(20_000)).then((text) => {
    answered = true;
    return text;
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect({ answered, served }).toEqual({ answered: false, served: [] });
  proxy.set({ kind: 'pass' });
  expect(await asking).toBe(longAnswer);
});

it('A refusing proxy cuts every connection until it is switched off', async () => {
  proxy.set({ kind: 'refuse' });
  await expect(ask()).rejects.toThrow();
  expect(served).toEqual([]);
  proxy.set({ kind: 'pass' });
  expect(await ask()).toBe(longAnswer);
});

it('A truncating proxy cuts the response after the request took effect', async () => {
  proxy.set({ kind: 'truncate', bytes: 300 });
  await expect(ask('/truncated')).rejects.toThrow();
  expect(served).toEqual(['/truncated']);
  expect(proxy.cuts).toBe(1);
});

it('A proxy can cut a connection after a request with a given text, and after no other', async () => {
  proxy.set({ kind: 'cut-after', text: '/commit' });
  expect(await ask('/harmless')).toBe(longAnswer);
  await expect(ask('/commit')).rejects.toThrow();
  expect(served).toEqual(['/harmless', '/commit']);
  await expect(ask('/commit')).rejects.toThrow();
  expect(proxy.cuts).toBe(2);
});

it('A proxy set to cut once cuts one connection and forwards all others', async () => {
  proxy.set({ kind: 'cut-after', text: '/commit', once: true });
  await expect(ask('/commit')).rejects.toThrow();
  expect(await ask('/commit')).toBe(longAnswer);
  expect(served).toEqual(['/commit', '/commit']);
  expect(proxy.cuts).toBe(1);
});

it('A proxy set to go down after a cut refuses connections, and a mode set during the outage stays', async () => {
  proxy.set({ kind: 'cut-after', text: '/commit', once: true, awayMs: 100 });
  await expect(ask('/commit')).rejects.toThrow();
  await expect(ask()).rejects.toThrow();
  proxy.set({ kind: 'black-hole' });
  await expect(ask('/', AbortSignal.timeout(400))).rejects.toThrow('timeout');
  expect([served, proxy.cuts]).toEqual([['/commit'], 1]);
});

it('A proxy can cut the connection instead of forwarding a request with a given text', async () => {
  proxy.set({ kind: 'cut-before', text: '/commit' });
  expect(await ask('/harmless')).toBe(longAnswer);
  await expect(ask('/commit')).rejects.toThrow();
  expect(served).toEqual(['/harmless']);
  expect(proxy.cuts).toBe(1);
});
