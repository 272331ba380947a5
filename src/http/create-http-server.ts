import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError, type ErrorCode, errorCodeOf, errorStatuses } from '../shared/errors.ts';
import { bodyTimeoutMs } from './body.ts';
import { presentError } from './errors.ts';
import { requestIdFrom } from './request-id.ts';

/** The request line and the headers of a request have so long to arrive. */
const headersTimeoutMs = 15_000;
/** Longer than load balancers keep a connection that is not used, so that they close it and not we. */
const keepAliveTimeoutMs = 65_000;

export interface HttpServerOptions {
  /** Connections at a time; one more is closed at once. */
  maxConnections: number;
  /** What is left of a body when its request has been answered has so long to arrive; as long as a body that is read. */
  restOfBodyMs?: number;
}

/**
 * The HTTP server of the API. Bodies are bounded by those who read them (JSON in time and size, uploads by progress), and
 * in time where the answer came before the whole body, whoever reads it.
 * What Node's parser refuses before a request exists, and what Node would refuse by itself, is answered in the envelope of
 * its path, too, with a request id.
 */
export function createHttpServer(serve: RequestListener, options: HttpServerOptions): Server {
  const { maxConnections, restOfBodyMs = bodyTimeoutMs } = options;
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    response.once('finish', () => endUnlessReceived(request, restOfBodyMs));
    const isHostMissing = request.headers.host === undefined && request.httpVersion === '1.1';
    if (isHostMissing) refuseRequest(request, response, 'The header Host is missing');
    else serve(request, response);
  });
  server.requestTimeout = 0;
  server.headersTimeout = headersTimeoutMs;
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.maxConnections = maxConnections;
  server.on('clientError', refuseUnparsed);
  server.on('checkExpectation', (request, response) =>
    refuseRequest(request, response, 'Expect: only 100-continue can be met'),
  );
  server.on('connect', (request, stream) => {
    stream.on('error', () => stream.destroy());
    stream.end(writtenOut(presentRefusal('REQUEST_INVALID', 'CONNECT is not possible here', request)));
    // The server no longer looks after such a connection: a client that keeps its side open would hold it for ever.
    setTimeout(() => stream.destroy(), restOfBodyMs).unref();
  });
  return server;
}

/** Nobody reads the rest of such a body, and without an end it would hold its connection for as long as it trickles. */
function endUnlessReceived(request: IncomingMessage, withinMs: number): void {
  if (request.complete) return;
  const end = () => {
    if (!request.complete) request.socket.destroy();
  };
  setTimeout(end, withinMs).unref();
}

/** What the parser complains of, in our words; everything else is a malformed request. */
const parserRefusals: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers are larger than 16 KB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'The chunk extensions of the body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The headers did not arrive in time'],
};

function refuseUnparsed(error: Error, stream: NodeJS.WritableStream): void {
  const socket = stream as Socket;
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

function refuseRequest(request: IncomingMessage, response: ServerResponse, message: string): void {
  const { status, headers, body } = presentRefusal('REQUEST_INVALID', message, request);
  response.writeHead(status, headers).end(body);
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
    status: errorStatuses[code],
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

/** The answer as bytes, for a socket that has no response. */
function writtenOut({ status, reason, headers, body }: Refusal): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n');
}

/** The path of the request line, as far as it arrived with the packet that broke the parser; `/` otherwise. */
function pathOf(error: Error): string {
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : Buffer.alloc(0);
  const [, path = '/'] = /^[A-Z]+ (\/[^\s?]*)/.exec(packet.toString('latin1', 0, 2048)) ?? [];
  return path;
}
