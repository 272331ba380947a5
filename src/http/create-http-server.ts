import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError, type ErrorCode, errorCodeOf, errorStatuses } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { presentError } from './errors.ts';

/** The request line and the headers of a request have so long to arrive. */
const headersTimeoutMs = 15_000;
/** Longer than load balancers keep a connection that is not used, so that they close it and not we. */
const keepAliveTimeoutMs = 65_000;

export interface HttpServerOptions {
  /** Connections at a time; one more is closed at once. */
  maxConnections: number;
}

/**
 * The HTTP server of the API. Bodies are bounded by those who read them (JSON in time and size, uploads by progress).
 * What Node's parser refuses before a request exists is answered in the envelope of its path, too, with a request id.
 */
export function createHttpServer(serve: RequestListener, { maxConnections }: HttpServerOptions): Server {
  const server = createServer(serve);
  server.requestTimeout = 0;
  server.headersTimeout = headersTimeoutMs;
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.maxConnections = maxConnections;
  server.on('clientError', refuseUnparsed);
  return server;
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
  const refusal = new DomainError(code, message);
  const requestId = newId();
  const body = JSON.stringify(presentError(refusal, pathOf(error), requestId));
  socket.end(
    [
      `HTTP/1.1 ${errorStatuses[code]} ${reasonOf(code)}`,
      'Connection: close',
      'Cache-Control: no-store',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      '',
      body,
    ].join('\r\n'),
  );
}

const reasonOf = (code: ErrorCode): string => code.replaceAll('_', ' ').toLowerCase();

/** The path of the request line, as far as it arrived with the packet that broke the parser; `/` otherwise. */
function pathOf(error: Error): string {
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : Buffer.alloc(0);
  const [, path = '/'] = /^[A-Z]+ (\/[^\s?]*)/.exec(packet.toString('latin1', 0, 2048)) ?? [];
  return path;
}
