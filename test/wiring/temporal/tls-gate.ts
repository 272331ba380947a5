import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { generate } from 'selfsigned';
import { newId } from '../../../src/shared/ids.ts';
import { testRun } from '../../support/run.ts';

export interface Pems {
  key: string;
  cert: string;
}

const toPems = ({ private: key, cert }: { private: string; cert: string }): Pems => ({ key, cert });

export const makeAuthority = async (name: string): Promise<Pems> =>
  toPems(
    await generate([{ name: 'commonName', value: name }], {
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'keyUsage', keyCertSign: true, digitalSignature: true },
      ],
    }),
  );

/** Issues a certificate for a name, signed by an authority. */
export const issue = async (name: string, by: Pems): Promise<Pems> =>
  toPems(
    await generate([{ name: 'commonName', value: name }], {
      ca: by,
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
    }),
  );

/** Writes a file with this text, as a deployment mounts it. */
export function write(name: string, text: string): string {
  const file = join(testRun().directory, `${newId()}-${name}`);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

export const shown = ({ cert, key }: Pems) => ({
  TEMPORAL_TLS_CLIENT_CERT_PATH: write('client.pem', cert),
  TEMPORAL_TLS_CLIENT_KEY_PATH: write('client.key', key),
});

export const believed = ({ cert }: Pems) => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: write('authority.pem', cert) });

export interface TlsGate {
  authority: Pems;
  server: Pems;
  client: Pems;
  /** The settings that name the gate, without its certificates. */
  named: { TEMPORAL_ADDRESS: string; TEMPORAL_TLS_SERVER_NAME: string };
  close(): void;
}

/** Opens a TLS gate to Temporal, which authenticates its clients by their certificates. */
export async function openTlsGate(): Promise<TlsGate> {
  const authority = await makeAuthority('Test authority');
  const [server, client] = await Promise.all([issue('temporal.test', authority), issue('amanah', authority)]);
  const [host = '', port = ''] = testRun().temporal.address.split(':');
  const gate = createServer(
    { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] },
    (socket) => {
      const inner = connect(Number(port), host);
      for (const [from, to] of [
        [socket, inner],
        [inner, socket],
      ] as const) {
        from.on('error', () => to.destroy());
        from.pipe(to);
      }
    },
  );
  gate.on('tlsClientError', () => undefined);
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
  const address = `127.0.0.1:${(gate.address() as AddressInfo).port}`;
  const named = { TEMPORAL_ADDRESS: address, TEMPORAL_TLS_SERVER_NAME: 'temporal.test' };
  return { authority, server, client, named, close: () => void gate.close() };
}
