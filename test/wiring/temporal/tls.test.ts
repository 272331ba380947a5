import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../src/platform/config/config.ts';
import { connectionOptions } from '../../../src/platform/config/connection-options.ts';
import type { Logger } from '../../../src/platform/process/log.ts';
import { ConfigError } from '../../../src/shared/errors.ts';
import { certificatesRenewed } from '../../../src/wiring/temporal/certificate-renewal.ts';
import { openTemporal } from '../../../src/wiring/temporal/connect.ts';
import { createSecrets, testEnvironment } from '../../support/environment.ts';
import { itInFull } from '../../support/full.ts';
import { eventually } from '../../support/stack.ts';
import { believed, issue, makeAuthority, openTlsGate, type Pems, shown, type TlsGate, write } from './tls-gate.ts';

let authority: Pems;
let server: Pems;
let client: Pems;
let address: string;
let gate: TlsGate;
beforeAll(async () => {
  gate = await openTlsGate();
  ({ authority, server, client } = gate);
  address = gate.named.TEMPORAL_ADDRESS;
}, 60_000);
afterAll(() => gate.close());

const named = () => gate.named;
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
  itInFull(
    'Temporal behind TLS requires a certificate of its authority, and clients reject another authority or name',
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

  it('A process exits, to be restarted, once its certificates for Temporal are renewed and usable', async () => {
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
    const next = await issue('amanah', authority);
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

  it('Every call to Temporal carries the API key', async () => {
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

  it('The connection to Temporal is encrypted if TLS, a certificate or an API key is configured', () => {
    expect(connectionOptions({ TEMPORAL_ADDRESS: 'a:1' })).toEqual({ address: 'a:1', tls: false });
    expect(connectionOptions({ TEMPORAL_ADDRESS: 'a:1', TEMPORAL_TLS: true })).toEqual({ address: 'a:1', tls: {} });
    expect(connectionOptions({ TEMPORAL_ADDRESS: 'a:1', ...shown(client) }).tls).toHaveProperty('clientCertPair');
    expect(connectionOptions({ TEMPORAL_ADDRESS: 'a:1', TEMPORAL_API_KEY: 'k' })).toEqual({
      address: 'a:1',
      tls: {},
      apiKey: 'k',
    });
  });
});

describe('TLS configurations', () => {
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
      'a missing file',
      () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere.pem' }),
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH is malformed: cannot be read',
    ],
    [
      'a file that is not PEM',
      () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: write('authority.pem', 'mine') }),
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH is malformed: names a file that is not PEM',
    ],
    [
      'an API key over plain text',
      () => ({ TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'k' }),
      'TEMPORAL_TLS is malformed: is false',
    ],
  ])('A TLS configuration with %s stops the start, naming the variable', (_, env, complaint) => {
    expect(complaintOf({})).toBe('');
    expect(complaintOf(env())).toContain(complaint);
  });
});
