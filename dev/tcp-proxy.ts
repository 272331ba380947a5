import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * How a proxy treats the bytes that pass through it.
 * - `pass`: unchanged.
 * - `delay`: each chunk is delayed by `ms` milliseconds, in both directions, in order.
 * - `black-hole`: connections stay open and carry nothing; held-back bytes continue when the mode changes.
 * - `refuse`: every connection is cut, and new ones are cut at once.
 * - `truncate`: the connection is cut after a number of bytes of the answer.
 * - `cut-after`: the connection is cut right after a request that contains the text has been sent, so that its answer
 *   is lost while its effect may have happened; with `once`, a single connection is cut, and then all pass. With
 *   `awayMs`, the other side is unreachable too, for that long.
 * - `hold-at`: becomes a `black-hole` at the first request that contains the text, which is held back too.
 * - `cut-before`: the connection is cut before a request that contains the text is sent, so it has no effect.
 */
export type ProxyMode =
  | { kind: 'pass' }
  | { kind: 'delay'; ms: number }
  | { kind: 'black-hole' }
  | { kind: 'refuse' }
  | { kind: 'truncate'; bytes: number }
  | { kind: 'cut-after'; text: string; once?: true; awayMs?: number }
  | { kind: 'hold-at'; text: string }
  | { kind: 'cut-before'; text: string };

export interface TcpProxy extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  /** Open connections. */
  readonly open: number;
  /** Connections cut by a mode that cuts at a text or a length, not by `refuse` or `cut()`. */
  readonly cuts: number;
  /** Changes how bytes are treated, also on open connections. */
  set(mode: ProxyMode): void;
  /** Resets every open connection once. */
  cut(): void;
  /** Sets other targets, used in turn by new connections; open ones stay where they are. */
  retarget(ports: readonly number[]): void;
  close(): Promise<void>;
}

interface Pair {
  client: Socket;
  server: Socket;
  answered: number;
}

const host = '127.0.0.1';
/** Gives written bytes time to reach the other side before the cut. */
const beforeCutMs = 15;

/** Listens on a free loopback port and forwards each connection to the next of the ports. */
export async function startTcpProxy(name: string, ports: readonly number[]): Promise<TcpProxy> {
  let mode: ProxyMode = { kind: 'pass' };
  let targets = ports;
  let turn = 0;
  let cuts = 0;
  const pairs = new Set<Pair>();
  const cutPair = ({ client, server }: Pair) => {
    for (const socket of [client, server]) {
      if (socket.destroyed) continue;
      // A reset waits for pending writes, which on a stalled connection may take forever.
      if (!socket.connecting) socket.resetAndDestroy();
      socket.destroy();
    }
  };
  const cut = () => {
    for (const pair of [...pairs]) cutPair(pair);
  };
  const passAgain = (awayMs: number) => {
    const away: ProxyMode = { kind: awayMs > 0 ? 'refuse' : 'pass' };
    mode = away;
    if (awayMs === 0) return;
    setTimeout(cut, beforeCutMs);
    setTimeout(() => {
      // Another mode may have been set in between.
      if (mode === away) mode = { kind: 'pass' };
    }, awayMs).unref();
  };
  const set = (next: ProxyMode) => {
    mode = next;
    for (const pair of pairs) {
      if (mode.kind === 'black-hole') pause(pair);
      else resume(pair);
    }
    if (mode.kind === 'refuse') cut();
  };
  const countCut = () => {
    cuts += 1;
  };

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const port = targets[turn % targets.length];
    turn += 1;
    client.on('error', () => undefined);
    if (mode.kind === 'refuse' || port === undefined) return void client.resetAndDestroy();
    const pair: Pair = { client, server: connect({ port, host, noDelay: true, allowHalfOpen: true }), answered: 0 };
    client.setNoDelay(true);
    pairs.add(pair);
    const line: Line = { modeNow: () => mode, passAgain, hold: () => set({ kind: 'black-hole' }), countCut, cutPair };
    forward(pair, 'out', line);
    forward(pair, 'back', line);
    for (const socket of [pair.client, pair.server]) {
      socket.on('error', () => cutPair(pair));
      socket.on('close', () => {
        if (pair.client.destroyed && pair.server.destroyed) pairs.delete(pair);
      });
    }
    if (mode.kind === 'black-hole') pause(pair);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error(`the proxy ${name} has no address`);

  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  return {
    name,
    port: address.port,
    get open() {
      return pairs.size;
    },
    get cuts() {
      return cuts;
    },
    set,
    cut,
    retarget: (next) => {
      targets = next;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function pause({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

function resume({ client, server }: Pair): void {
  client.resume();
  server.resume();
}

interface Line {
  modeNow(): ProxyMode;
  passAgain(awayMs: number): void;
  hold(): void;
  countCut(): void;
  cutPair(pair: Pair): void;
}

/** Forwards one direction of a connection. Half-closes are forwarded; chunks keep their order whatever their delay. */
function forward(pair: Pair, direction: 'out' | 'back', { modeNow, passAgain, hold, countCut, cutPair }: Line): void {
  const [from, to] = direction === 'out' ? [pair.client, pair.server] : [pair.server, pair.client];
  let busyUntil = 0;
  const later = (work: () => void) => {
    const mode = modeNow();
    const at = Math.max(busyUntil, mode.kind === 'delay' ? Date.now() + mode.ms : 0);
    busyUntil = at;
    if (at <= Date.now()) work();
    else setTimeout(work, at - Date.now());
  };
  from.on('data', (chunk: Buffer) => {
    const mode = modeNow();
    if (mode.kind === 'truncate' && direction === 'back') {
      const left = mode.bytes - pair.answered;
      pair.answered += chunk.length;
      if (chunk.length >= left) {
        to.write(chunk.subarray(0, Math.max(0, left)));
        countCut();
        setTimeout(() => cutPair(pair), beforeCutMs);
        return;
      }
    }
    if (mode.kind === 'cut-after' && direction === 'out' && chunk.includes(mode.text)) {
      // No byte of the answer may arrive: the other direction is paused before the request is sent.
      pair.server.pause();
      to.write(chunk);
      countCut();
      if (mode.once) passAgain(mode.awayMs ?? 0);
      setTimeout(() => cutPair(pair), beforeCutMs);
      return;
    }
    if (mode.kind === 'cut-before' && direction === 'out' && chunk.includes(mode.text)) {
      countCut();
      return cutPair(pair);
    }
    if (mode.kind === 'hold-at' && direction === 'out' && chunk.includes(mode.text)) {
      hold();
      return void from.unshift(chunk);
    }
    later(() => {
      if (to.destroyed) return;
      if (!to.write(chunk)) {
        from.pause();
        to.once('drain', () => {
          if (modeNow().kind !== 'black-hole') from.resume();
        });
      }
    });
  });
  from.on('end', () => later(() => void to.end()));
}
