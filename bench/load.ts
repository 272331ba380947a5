import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '../src/shared/assert.ts';
import { quantile } from './figures.ts';

/** The load: the requests to send, and the expected status. */
export interface LoadOptions {
  /** The target port; connections are spread over several. */
  port: number | readonly number[];
  connections: number;
  seconds: number;
  /** The next complete request. */
  next: () => string;
  /** The status that every answer must have. */
  status: number;
  /** Called with each answer's body. */
  onAnswer?: (body: string) => void;
}

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  answers: number;
  /** The number of answers with other statuses, by status line. */
  errors: Record<string, number>;
}

/** One complete HTTP request with a JSON body. */
export function httpRequest(
  method: string,
  path: string,
  token: string,
  body?: object,
  headers: Record<string, string> = {},
): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  return [
    `${method} ${path} HTTP/1.1`,
    'Host: bench',
    `Authorization: Bearer ${token}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]),
    '',
    text,
  ].join('\r\n');
}

const headEnd = '\r\n\r\n';

/**
 * Sends requests sequentially on each connection for `seconds`, and measures them. Uses bare sockets, because on a
 * small machine the generator shares the cores with the process that it measures.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { connections, seconds, port } = options;
  const ports = typeof port === 'number' ? [port] : port;
  const latencies: number[] = [];
  const errors: Record<string, number> = {};
  let running = true;
  const clients = Array.from({ length: connections }, (_, index) => {
    const to = must(ports[index % ports.length], 'there is a port');
    return runConnection({ ...options, port: to }, () => running, latencies, errors);
  });
  const started = performance.now();
  await Promise.race([sleep(seconds * 1000), Promise.all(clients)]);
  running = false;
  await Promise.all(clients);
  const elapsed = (performance.now() - started) / 1000;
  return {
    perSecond: latencies.length / elapsed,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    answers: latencies.length,
    errors,
  };
}

async function runConnection(
  { port, next, status, onAnswer }: LoadOptions & { port: number },
  isRunning: () => boolean,
  latencies: number[],
  errors: Record<string, number>,
): Promise<void> {
  const socket = await open(port);
  const expected = `HTTP/1.1 ${status}`;
  try {
    while (isRunning()) {
      const sent = performance.now();
      socket.write(next());
      const { head, body } = await readAnswer(socket);
      latencies.push(performance.now() - sent);
      if (head.startsWith(expected)) onAnswer?.(body);
      else {
        const line = head.slice(9, 12) + (Object.keys(errors).length === 0 ? ` ${body.slice(0, 200)}` : '');
        errors[line] = (errors[line] ?? 0) + 1;
      }
    }
  } finally {
    socket.destroy();
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

function readAnswer(socket: Socket): Promise<{ head: string; body: string }> {
  return new Promise((resolve, reject) => {
    let text = '';
    const done = () => {
      socket.off('data', onData);
      socket.off('error', reject);
      socket.off('close', onClose);
    };
    const onClose = () => reject(new Error('the server closed the connection'));
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf(headEnd);
      if (end < 0) return;
      const head = text.slice(0, end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (text.length < end + headEnd.length + length) return;
      done();
      resolve({ head, body: text.slice(end + headEnd.length) });
    };
    socket.on('data', onData);
    socket.once('error', reject);
    socket.once('close', onClose);
  });
}
