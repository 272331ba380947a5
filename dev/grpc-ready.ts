import { connect, constants } from 'node:http2';

const callTimeoutMs = 2_000;

/**
 * Resolves to whether a Temporal server answers for a namespace. Makes one bare gRPC call (DescribeNamespace), because
 * loading the whole client just to wait would be slow.
 */
export function answersForNamespace(address: string, namespace: string): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connect(`http://${address}`);
    const finish = (answer: boolean) => {
      clearTimeout(timer);
      session.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(false), callTimeoutMs);
    session.on('error', () => finish(false));
    const call = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace',
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      [constants.HTTP2_HEADER_TE]: 'trailers',
    });
    let status: unknown;
    call.on('response', (headers) => (status = headers['grpc-status'] ?? status));
    call.on('trailers', (headers) => (status = headers['grpc-status'] ?? status));
    call.on('error', () => finish(false));
    call.on('close', () => finish(status === '0'));
    call.resume();
    call.end(frame(namespaceField(namespace)));
  });
}

/** Field 1 of the request, a string. */
function namespaceField(namespace: string): Buffer {
  const bytes = Buffer.from(namespace);
  return Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes]);
}

/** A gRPC message: uncompressed flag, length, bytes. */
function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
