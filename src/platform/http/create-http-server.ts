import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError, type ErrorCode, errorCodeOf } from '../../shared/errors.ts';
import { bodyTimeoutMs } from './body.ts';
import { presentError, statusOfError } from './errors.ts';
import { requestIdFrom } from './request-id.ts';

/** How long the request line and headers may take to arrive, and how often that is checked. */
const headersTimeoutMs = 15_000;
const lookMs = 30_000;
/** Longer than load balancers keep an idle connection, so that they close it first. */
const keepAliveTimeoutMs = 65_000;
/** Longer than any request waits, and than proxies wait for one. */
const silenceTimeoutMs = 120_000;
/**
 * How many requests may be in progress when one more arrives on a connection that awaits responses. Without this limit a
 * few connections could send tens of thousands at once and exhaust the memory.
 */
const mostPipelined = 1000;
/**
 * Bytes of responses that clients have not received, over all connections: otherwise anybody could request many large
 * responses, read none and exhaust the memory. Beyond this the connections that have waited longest are closed.
 */
const mostUnsentBytes = 64 * 1024 * 1024;

export interface HttpServerOptions {
  /** The maximum number of open connections; further ones are closed at once. */
  maxConnections: number;
  /** How long the request line and headers may take to arrive, and how often that is checked; 15 s and 30 s. */
  headersMs?: number;
  lookEveryMs?: number;
  /** How long the rest of a body may take to arrive after its request was answered; `bodyTimeoutMs` by default. */
  restOfBodyMs?: number;
  /** How long a connection with a request under way may transfer nothing; `silenceTimeoutMs` by default. */
  silenceMs?: number;
}

/** A connection's state: how many requests it has carried, which are unanswered, and whether it was refused. */
interface HttpConnection {
  arrived: number;
  underWay: Set<IncomingMessage>;
  isRefused: boolean;
}

/** Serves a request; returns a promise if the work continues afterwards. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Creates the API's HTTP server. Body readers limit the body (JSON by time and size, uploads by progress); once a
 * request is answered, the server limits the time for the rest of its body. Requests that Node or its parser rejects
 * also get the error envelope of their path, with a request id; after that the connection serves nothing more.
 */
export function createHttpServer(serve: Serve, options: HttpServerOptions): Server {
  const { maxConnections, restOfBodyMs = bodyTimeoutMs, headersMs = headersTimeoutMs, lookEveryMs = lookMs } = options;
  const { silenceMs = silenceTimeoutMs } = options;
  const connections = new WeakMap<Socket, HttpConnection>();
  const connectionOf = (socket: Socket): HttpConnection => {
    const known = connections.get(socket) ?? { arrived: 0, underWay: new Set(), isRefused: false };
    connections.set(socket, known);
    return known;
  };
  /** The bytes of the responses that are written but not sent, oldest first. */
  const unsent = new Map<ServerResponse, number>();
  let unsentBytes = 0;
  const forget = (response: ServerResponse): void => {
    unsentBytes -= unsent.get(response) ?? 0;
    unsent.delete(response);
  };
  const holdUntilSent = (response: ServerResponse): void => {
    unsent.set(response, response.writableLength);
    unsentBytes += response.writableLength;
    for (const oldest of unsent.keys()) {
      if (unsentBytes <= mostUnsentBytes) break;
      forget(oldest);
      oldest.req.socket.destroy();
    }
  };
  let inProgress = 0;
  const serveCounted = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    inProgress += 1;
    const closed = new Promise((resolve) => response.once('close', resolve));
    try {
      await serve(request, response);
      holdUntilSent(response);
      // Until then a pipelined response waits for those before it.
      await closed;
    } finally {
      inProgress -= 1;
      forget(response);
    }
  };
  /** False for requests after a refusal, and for too many pipelined ones: they are neither served nor answered. */
  const accepts = (request: IncomingMessage, response: ServerResponse): boolean => {
    const connection = connectionOf(request.socket);
    if (connection.isRefused) {
      // Responses in progress, including the refusal, are not cut off: Node closes after the refusal.
      if (connection.underWay.size === 0) request.socket.destroy();
      return false;
    }
    if (connection.underWay.size > 0 && inProgress >= mostPipelined) {
      connection.isRefused = true;
      stopParsing(request.socket);
      request.socket.destroy();
      return false;
    }
    connection.arrived += 1;
    connection.underWay.add(request);
    response.once('close', () => connection.underWay.delete(request));
    response.once('finish', () => endUnlessReceived(request, restOfBodyMs));
    return true;
  };
  const refuseRequest = (request: IncomingMessage, response: ServerResponse, message: string) => {
    connectionOf(request.socket).isRefused = true;
    stopParsing(request.socket);
    const { status, headers, body } = presentRefusal('REQUEST_INVALID', message, request);
    response.writeHead(status, headers).end(body);
  };
  const settings = { requireHostHeader: false, connectionsCheckingInterval: lookEveryMs };
  const server = createServer(settings, (request, response) => {
    if (!accepts(request, response)) return;
    const isHostMissing = request.headers.host === undefined && request.httpVersion === '1.1';
    if (isHostMissing) refuseRequest(request, response, 'The header Host is missing');
    else void serveCounted(request, response);
  });
  server.requestTimeout = 0;
  // A client that never reads its response would hold its connection for ever, at no cost.
  server.timeout = silenceMs;
  server.headersTimeout = headersMs;
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.maxConnections = maxConnections;
  // A refusal without a response object goes straight to the socket, ahead of every pending response.
  const refuse = (socket: Socket, writeRefusal: () => void) => {
    const connection = connectionOf(socket);
    connection.isRefused = true;
    // A request that has fully arrived is being served: a refusal now would look like its response, so none is sent.
    if ([...connection.underWay].some(({ complete }) => complete)) socket.destroy();
    else writeRefusal();
  };
  server.on('clientError', (error, stream) => {
    const socket = stream as Socket;
    const refuseIt = () => refuse(socket, () => refuseUnparsed(error, socket));
    if (errorCodeOf(error) !== 'ERR_HTTP_REQUEST_TIMEOUT') return refuseIt();
    // After a pause, the process checks the clock before it reads data that arrived in time. That data is read before
    // the next immediate.
    const { arrived } = connectionOf(socket);
    setImmediate(() => {
      if (connectionOf(socket).arrived === arrived) refuseIt();
    });
  });
  server.on('checkExpectation', (request, response) => {
    if (accepts(request, response)) refuseRequest(request, response, 'Expect: only 100-continue is supported');
  });
  server.on('connect', (request, stream) => {
    stream.on('error', () => stream.destroy());
    refuse(stream as Socket, () => {
      stream.end(writtenOut(presentRefusal('REQUEST_INVALID', 'CONNECT is not supported', request)));
      // Node applies no time-out to such a socket: a client that keeps its side open would hold it forever.
      setTimeout(() => stream.destroy(), restOfBodyMs).unref();
    });
  });
  return server;
}

/**
 * Discards what the connection has sent. Destroying its socket is not enough: Node would still create a request and a
 * response for each of the hundreds of requests in the packet that it is parsing. There is no public API for this; 2 is
 * what Node's own handler returns to end the parsing at an upgrade.
 */
function stopParsing(socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => 2;
}

/** Closes the connection if the rest of the body, which is discarded, does not arrive in time. */
function endUnlessReceived(request: IncomingMessage, withinMs: number): void {
  if (request.complete) return;
  const end = () => {
    if (!request.complete) request.socket.destroy();
  };
  setTimeout(end, withinMs).unref();
}

/** The parser's error codes as our refusals; any other is a malformed request. */
const parserRefusals: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers are larger than 16 KB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'The chunk extensions of the body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The headers did not arrive in time'],
};

function refuseUnparsed(error: Error, socket: Socket): void {
  if (errorCodeOf(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] = parserRefusals[String(errorCodeOf(error))] ?? [
    'REQUEST_INVALID',
    'The request is not well-formed HTTP',
  ];
  socket.end(writtenOut(presentRefusal(code, message, { url: pathOf(error) })));
}

interface Refusal {
  status: number;
  reason: string;
  headers: Record<string, string | number>;
  body: string;
}

function presentRefusal(
  code: ErrorCode,
  message: string,
  { url = '/', headers }: { url?: string | undefined; headers?: IncomingMessage['headers'] },
): Refusal {
  const requestId = requestIdFrom(headers?.['x-request-id']);
  const path = url.split('?', 1).join();
  const body = JSON.stringify(presentError(new DomainError(code, message), path, requestId));
  return {
    status: statusOfError(code, path),
    reason: code.replaceAll('_', ' ').toLowerCase(),
    headers: {
      Connection: 'close',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'x-request-id': requestId,
    },
    body,
  };
}

/** Formats the refusal as a raw HTTP response, for a socket that has no response object. */
function writtenOut({ status, reason, headers, body }: Refusal): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n');
}

/** Returns the path of the request line, if it arrived in the packet that the parser rejected; `/` otherwise. */
function pathOf(error: Error): string {
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : Buffer.alloc(0);
  const [, path = '/'] = /^[A-Z]+ (\/[^\s?]*)/.exec(packet.toString('latin1', 0, 2048)) ?? [];
  return path;
}
