import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { readConfig } from '../../../src/platform/config/config.ts';
import { ConfigError } from '../../../src/shared/errors.ts';
import { openDatabase } from '../../../src/wiring/open-database.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { issue, makeAuthority, type Pems, write } from '../../wiring/temporal/tls-gate.ts';

/** The first message of a client that wants TLS: its length, and a magic number. */
const wantsTls = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

let stack: Stack;
let authority: Pems;
let stranger: Pems;
let gate: Server;
const open = new Set<Socket>();
beforeAll(async () => {
  stack = await startStack();
  [authority, stranger] = await Promise.all([makeAuthority('Test authority'), makeAuthority('Another authority')]);
  const server = await issue('localhost', authority);
  const inner = new URL(stack.databaseUrls.app);
  gate = createServer(async (socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    const [first] = (await once(socket, 'data').catch(() => [Buffer.alloc(0)])) as [Buffer];
    // A server that requires TLS closes plain-text connections.
    if (!first.equals(wantsTls)) return socket.destroy();
    socket.pause();
    socket.write('S');
    const secure = new TLSSocket(socket, { isServer: true, ...server });
    const database = connect(Number(inner.port), inner.hostname);
    for (const [from, to] of [
      [secure, database],
      [database, secure],
    ] as const) {
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  });
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
}, 60_000);
afterAll(async () => {
  for (const socket of open) socket.destroy();
  gate.close();
  await stack.stop();
});

/** Returns the URL of the database behind the gate, with this host name and these parameters. */
function urlOf(host: string, parameters: Record<string, string>): string {
  const url = new URL(stack.databaseUrls.app);
  url.hostname = host;
  url.port = String((gate.address() as AddressInfo).port);
  url.search = new URLSearchParams(parameters).toString();
  return url.href;
}
async function ask(host: string, parameters: Record<string, string>): Promise<string> {
  const orm = await openDatabase({ url: urlOf(host, parameters), poolSize: 1, connectWithinMs: 5_000 });
  try {
    const [row] = await orm.em.fork().execute<[{ answer: string }]>("select 'answered' as answer");
    return row.answer;
  } catch (error) {
    return String(error);
  } finally {
    await orm.close(true);
  }
}
const believing = ({ cert }: Pems) => ({ sslrootcert: write('database-authority.pem', cert) });

describe('A database that requires TLS', () => {
  it.each<[string, string, () => Record<string, string>]>([
    ['require, without verification', '127.0.0.1', () => ({ sslmode: 'require' })],
    ['verify-ca, by its authority', '127.0.0.1', () => ({ sslmode: 'verify-ca', ...believing(authority) })],
    [
      'require with an authority, which is verify-ca',
      '127.0.0.1',
      () => ({ sslmode: 'require', ...believing(authority) }),
    ],
    ['verify-full, by its name', 'localhost', () => ({ sslmode: 'verify-full', ...believing(authority) })],
  ])('A connection to a database that requires TLS succeeds with sslmode %s', async (_, host, parameters) => {
    expect(await ask(host, parameters())).toBe('answered');
  });

  it.each<[string, string, () => Record<string, string>]>([
    ['in plain text by default', '127.0.0.1', () => ({})],
    ['in plain text by sslmode disable', '127.0.0.1', () => ({ sslmode: 'disable' })],
    ['with verify-ca and another authority', '127.0.0.1', () => ({ sslmode: 'verify-ca', ...believing(stranger) })],
    ['with require and another authority', '127.0.0.1', () => ({ sslmode: 'require', ...believing(stranger) })],
    ['with verify-ca and the public authorities', '127.0.0.1', () => ({ sslmode: 'verify-ca' })],
    ['with verify-full and another name', '127.0.0.1', () => ({ sslmode: 'verify-full', ...believing(authority) })],
  ])('A connection to a database that requires TLS fails %s', async (_, host, parameters) => {
    expect(await ask(host, parameters())).not.toBe('answered');
  });
});

describe('DATABASE_URL parameters', () => {
  const complaintOf = (changes: Record<string, string>): string => {
    try {
      readConfig({ ...stack.env, ...changes });
      return '';
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.message;
    }
  };
  const far = 'postgresql://amanah_app:secret@db.example.org:5432/amanah';

  it.each<[Record<string, string>, string]>([
    [{ DATABASE_URL: `${far}?sslmode=bogus` }, 'DATABASE_URL is malformed: sslmode=bogus is not one of'],
    [{ DATABASE_URL: `${far}?sslmode=prefer` }, 'DATABASE_URL is malformed: sslmode=prefer is not one of'],
    [
      { READER_DATABASE_URL: `${far}?options=-c` },
      'READER_DATABASE_URL is malformed: the parameter options is not known',
    ],
    [{ KEYS_DATABASE_URL: `${far}?schema=other` }, 'KEYS_DATABASE_URL is malformed: the parameter schema is not known'],
    [
      { MIGRATION_KEYS_DATABASE_URL: `${far}?sslmode=verify-full&sslrootcert=/nowhere.pem` },
      'MIGRATION_KEYS_DATABASE_URL is malformed: sslrootcert=/nowhere.pem cannot be read',
    ],
    [{ DATABASE_URL: `${far}?sslrootcert=/nowhere.pem` }, 'sslrootcert needs an sslmode that encrypts'],
    [
      { NODE_ENV: 'production', MIGRATION_DATABASE_URL: far },
      'MIGRATION_DATABASE_URL is malformed: names a remote database',
    ],
  ])('The configuration rejects %j before connecting, and names the variable', (changes, complaint) => {
    expect(complaintOf(changes)).toContain(complaint);
    expect(complaintOf(changes)).not.toContain('secret');
  });

  it('In production, a remote database needs an explicit sslmode, and a local one does not', () => {
    const names = ['DATABASE_URL', 'DATABASE_READ_URL', 'KEYS_DATABASE_URL'];
    const by = (urls: string[]) =>
      complaintOf({
        NODE_ENV: 'production',
        ...Object.fromEntries(names.map((name, index) => [name, urls[index] ?? ''])),
      });
    for (const said of ['disable', 'require', 'verify-ca', 'verify-full']) {
      const complaint = by(['a', 'b', 'c'].map((name) => `${far}_${name}?sslmode=${said}`));
      expect(complaint).not.toContain('names a remote database');
    }
    const here = ['localhost', '127.0.3.4', '[::1]'].map(
      (host, index) => `postgresql://u:p@${host}:5432/amanah_${index}`,
    );
    expect(by(here)).not.toContain('names a remote database');
    expect(by([far, `${far}_b`, `${far}_c`]).match(/names a remote database/g)).toHaveLength(3);
  });
});
