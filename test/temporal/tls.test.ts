import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { generate } from 'selfsigned';
import { ConfigError, readConfig } from '../../src/config.ts';
import type { Logger } from '../../src/log.ts';
import { newId } from '../../src/shared/ids.ts';
import { certificatesRenewed } from '../../src/temporal/certificate-renewal.ts';
import { openTemporal } from '../../src/temporal/connect.ts';
import { connectionOptions } from '../../src/temporal/connection-options.ts';
import { buildPayer, pay, payoutWhen } from '../payouts/build-payouts.ts';
import { createSecrets, testEnvironment } from '../support/environment.ts';
import { itInFull } from '../support/full.ts';
import { testRun } from '../support/run.ts';
import { eventually, startStack } from '../support/stack.ts';

interface Pems {
  key: string;
  cert: string;
}
const toPems = ({ private: key, cert }: { private: string; cert: string }): Pems => ({ key, cert });
let authority: Pems;
/** Signed by our authority, for a name. */
const issue = async (name: string, by = authority): Promise<Pems> =>
  toPems(
    await generate([{ name: 'commonName', value: name }], {
      ca: by,
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
    }),
  );
const makeAuthority = async (name: string): Promise<Pems> =>
  toPems(
    await generate([{ name: 'commonName', value: name }], {
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'keyUsage', keyCertSign: true, digitalSignature: true },
      ],
    }),
  );

let server: Pems;
let client: Pems;
/** Temporal behind TLS, which knows its clients by their certificates. */
let address: string;
let close: () => void;
beforeAll(async () => {
  authority = await makeAuthority('Test authority');
  [server, client] = await Promise.all([issue('temporal.test'), issue('amanah')]);
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
  address = `127.0.0.1:${(gate.address() as AddressInfo).port}`;
  close = () => gate.close();
}, 60_000);
afterAll(() => close());

/** A file with this text, as a deployment mounts it. */
function write(name: string, text: string): string {
  const file = join(testRun().directory, `${newId()}-${name}`);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}
const shown = ({ cert, key }: Pems) => ({
  TEMPORAL_TLS_CLIENT_CERT_PATH: write('client.pem', cert),
  TEMPORAL_TLS_CLIENT_KEY_PATH: write('client.key', key),
});
const believed = ({ cert }: Pems) => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: write('authority.pem', cert) });
const named = () => ({ TEMPORAL_ADDRESS: address, TEMPORAL_TLS_SERVER_NAME: 'temporal.test' });
const secured = () => ({ ...named(), ...believed(authority), ...shown(client) });
const reach = async (env: Parameters<typeof connectionOptions>[0], withinMs = 3_000): Promise<boolean> => {
  const opened = openTemporal({ ...connectionOptions(env), namespace: 'default' });
  try {
    await opened.withDeadline(Date.now() + withinMs, () => opened.workflowService.getSystemInfo({}));
    return true;
  } catch {
    return false;
  } finally {
    await opened.connection.close();
  }
};

describe('Temporal behind TLS', () => {
  it('serves an API and a worker that show their certificate: a payout goes through', async () => {
    await using stack = await startStack({ own: true, isImpatient: true, worker: true, sandbox: true, env: secured() });
    const partner = await buildPayer(stack);
    const { id } = await pay(partner);
    await payoutWhen(partner, id, 'succeeded');
  }, 90_000);

  itInFull(
    'answers nobody without a certificate of its authority, and is not trusted with one of another',
    async () => {
      expect(await reach(secured(), 30_000)).toBe(true);
      const stranger = await makeAuthority('Stranger');
      const foreign = await issue('amanah', stranger);
      for (const [what, env] of Object.entries({
        'no certificate': { ...named(), ...believed(authority) },
        'another authority’s certificate': { ...named(), ...believed(authority), ...shown(foreign) },
        'no encryption': { TEMPORAL_ADDRESS: address },
        'a server of another authority': { ...named(), ...believed(stranger), ...shown(client) },
        'a server of another name': { ...secured(), TEMPORAL_TLS_SERVER_NAME: 'other.test' },
      })) {
        expect([what, await reach(env)]).toEqual([what, false]);
      }
    },
    60_000,
  );

  it('makes a process end, to be restarted, when its certificates were renewed and can be used', async () => {
    const env = secured();
    const told: string[] = [];
    const log = {
      info: () => undefined,
      error: (_: object, text: string) => void told.push(text),
    } as unknown as Logger;
    const none = certificatesRenewed(named(), { log, everyMs: 1, spreadMs: 0 });
    const renewed = certificatesRenewed(env, { log, everyMs: 1, spreadMs: 0 });
    const state = () => Promise.race([renewed, none, sleep(50, 'waits')]);
    expect(await state()).toBe('waits');
    const next = await issue('amanah');
    writeFileSync(env.TEMPORAL_TLS_CLIENT_CERT_PATH, 'half a ');
    await eventually(
      async () => told,
      (sentences) => sentences.includes('the certificates for Temporal have changed and cannot be used'),
    );
    expect(await state()).toBe('waits');
    writeFileSync(env.TEMPORAL_TLS_CLIENT_CERT_PATH, next.cert);
    writeFileSync(env.TEMPORAL_TLS_CLIENT_KEY_PATH, next.key);
    expect(await renewed).toContain('renewed');
    expect(await Promise.race([none, sleep(1, 'waits')])).toBe('waits');
  });

  it('gets the API key with every call', async () => {
    const keys: (string | undefined)[] = [];
    const cloud = createSecureServer({ ...server, ALPNProtocols: ['h2'] });
    cloud.on('stream', (stream, headers) => {
      keys.push(headers.authorization);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true });
    });
    cloud.listen(0, '127.0.0.1');
    await once(cloud, 'listening');
    const { port } = cloud.address() as AddressInfo;
    const env = { ...named(), ...believed(authority), TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
    await reach({ ...env, TEMPORAL_API_KEY: 'key-4711' }, 30_000);
    cloud.close();
    expect(keys.length).toBeGreaterThan(0);
    expect(new Set(keys)).toEqual(new Set(['Bearer key-4711']));
  });

  it('is encrypted as soon as a key or a certificate is given', () => {
    expect(connectionOptions({ TEMPORAL_ADDRESS: 'a:1' })).toEqual({ address: 'a:1', tls: false });
    expect(connectionOptions({ TEMPORAL_ADDRESS: 'a:1', TEMPORAL_TLS: true })).toEqual({ address: 'a:1', tls: {} });
    expect(connectionOptions({ TEMPORAL_ADDRESS: 'a:1', TEMPORAL_API_KEY: 'k' })).toEqual({
      address: 'a:1',
      tls: {},
      apiKey: 'k',
    });
  });
});

describe('A configuration of TLS', () => {
  const complaintOf = (env: Record<string, string>): string => {
    const addresses = {
      databaseUrl: 'postgresql://a@b/c',
      temporalAddress: 'a:1',
      url: 'http://a',
      sandboxUrl: 'http://b',
    };
    try {
      readConfig({ ...testEnvironment(addresses, createSecrets()), ...env });
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
    return '';
  };

  it.each<[string, () => Record<string, string>, string]>([
    [
      'a certificate without its key',
      () => ({ TEMPORAL_TLS_CLIENT_CERT_PATH: write('client.pem', client.cert) }),
      'TEMPORAL_TLS_CLIENT_KEY_PATH is missing',
    ],
    [
      'a key without its certificate',
      () => ({ TEMPORAL_TLS_CLIENT_KEY_PATH: write('client.key', client.key) }),
      'TEMPORAL_TLS_CLIENT_CERT_PATH is missing',
    ],
    [
      'a file that is not there',
      () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere.pem' }),
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH is malformed: cannot be read',
    ],
    [
      'what is not PEM',
      () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: write('authority.pem', 'mine') }),
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH is malformed: names a file that is not PEM',
    ],
    [
      'an API key in the clear',
      () => ({ TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'k' }),
      'TEMPORAL_TLS is malformed: is false',
    ],
  ])('stops the start if it has %s, naming the variable', (_, env, complaint) => {
    expect(complaintOf({})).toBe('');
    expect(complaintOf(env())).toContain(complaint);
  });
});
