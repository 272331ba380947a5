import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { leftOut } from '../../dev/licenses.ts';
import { findFreePort } from '../../dev/ports.ts';
import { readMigrationConfig } from '../../src/platform/config/command-config.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { createSecrets, testEnvironment } from '../support/environment.ts';
import { casesOf, itInFull } from '../support/full.ts';
import { createHttp } from '../support/http.ts';
import { operatorsDocuments } from '../support/operators-documents.ts';
import { testRun } from '../support/run.ts';
import { eventually } from '../support/stack.ts';

const root = join(import.meta.dirname, '..', '..');
let directory: string;
let database: TestDatabase;
let port: number;
let settings: Record<string, string>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'amanah-container-'));
  // Copies what the last stage of the Dockerfile copies, and nothing else.
  for (const name of [
    'src',
    'workflows',
    'activities',
    'sdk',
    'docs/app-first-hour.md',
    'package.json',
    'mikro-orm.config.ts',
  ]) {
    cpSync(join(root, name), join(directory, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  database = await cloneDatabase();
  port = await findFreePort();
  const addresses = {
    databaseUrl: database.url,
    temporalAddress: testRun().temporal.address,
    url: `http://127.0.0.1:${port}`,
    sandboxUrl: 'https://127.0.0.1:9',
  };
  const { WEBHOOK_ALLOW_LOOPBACK: _, ...usual } = testEnvironment(addresses, createSecrets());
  settings = { ...usual, NODE_ENV: 'production', TRUST_PROXY: 'false' };
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

/** Makes loading one of these packages fail. */
const without = (packages: readonly string[]) =>
  `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const packages = ${JSON.stringify(packages)};
  registerHooks({
    resolve(specifier, context, next) {
      if (packages.some((name) => specifier === name || specifier.startsWith(name + '/'))) throw new Error(specifier + ' is left out');
      return next(specifier, context);
    },
  });`)}`;

function run(script: string, env: Record<string, string>, options: string[] = [], typed: string[] = []) {
  const child = spawn(process.execPath, [...options, script, ...typed], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { out: '', error: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.error += chunk.toString();
  });
  return { child, output, ended: once(child, 'close').then(([code]: unknown[]) => ({ code, ...output })) };
}

const bare = { PATH: process.env.PATH ?? '' };

describe('The container’s start command in a bare directory', () => {
  itInFull.each(casesOf(['src/worker.ts', 'src/api.ts']))(
    'Without configuration, %s exits with one line naming the missing variables, and loads no omitted package',
    async (script) => {
      const { code, error } = await run(script, bare, ['--import', without(Object.keys(leftOut))]).ended;
      expect(code).toBe(1);
      expect(error.trim().split('\n')).toHaveLength(1);
      for (const name of ['PUBLIC_URL', 'DATABASE_URL', 'TEMPORAL_ADDRESS', 'S3_ENDPOINT', 'XENDIT_SECRET_KEY']) {
        expect(error).toContain(`${name} is missing`);
      }
      expect(error).toContain('DATA_ENCRYPTION_KEYS is missing');
    },
    60_000,
  );

  itInFull.each(['src/wiring/commands/migrate.ts', 'src/worker.ts', 'src/api.ts'])(
    '%s loads no package that the image omits',
    async (script) => {
      const { error } = await run(script, bare, ['--import', without(Object.keys(leftOut))]).ended;
      expect(error).toMatch(/DATABASE_URL (is|are) missing/);
      const loaded = await run(script, bare, ['--import', without(['zod'])]).ended;
      expect(loaded.error).toContain('zod is left out');
    },
    60_000,
  );
  itInFull(
    'src/wiring/commands/migrate.ts needs only the two databases, as their owner',
    async () => {
      const without = await run('src/wiring/commands/migrate.ts', bare).ended;
      expect(without.code).toBe(1);
      expect(without.error.trim()).toBe(
        'The configuration cannot be used: MIGRATION_DATABASE_URL and DATABASE_URL are missing.',
      );
      const ofKeys = { KEYS_DATABASE_URL: database.keysUrl, MIGRATION_KEYS_DATABASE_URL: database.keysOwnerUrl };
      const withoutKeys = await run('src/wiring/commands/migrate.ts', { ...bare, DATABASE_URL: database.url }).ended;
      expect(withoutKeys.error.trim()).toBe(
        'The configuration cannot be used: MIGRATION_KEYS_DATABASE_URL and KEYS_DATABASE_URL are missing.',
      );
      const asApplication = await run('src/wiring/commands/migrate.ts', {
        ...bare,
        ...ofKeys,
        DATABASE_URL: database.url,
      }).ended;
      expect(asApplication.error.trim()).toMatch(
        /^The role amanah_app may not create tables: .* MIGRATION_DATABASE_URL\.$/,
      );
      const urls = { ...ofKeys, DATABASE_URL: database.url, MIGRATION_DATABASE_URL: database.ownerUrl };
      expect(await run('src/wiring/commands/migrate.ts', { ...bare, ...urls }).ended).toMatchObject({
        code: 0,
        out: 'The schemas are up to date.\n',
      });
    },
    60_000,
  );

  itInFull(
    'src/wiring/commands/verify.ts verifies the books with docker compose’s settings and the image’s packages',
    async () => {
      const { services } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true });
      const known: Record<string, string> = {
        ...settings,
        READER_DATABASE_URL: database.readerUrl,
        S3_REGION: 'us-east-1',
        SEAL_VERIFICATION_KEYS: `public:${randomBytes(32).toString('base64')}`,
      };
      const given = Object.keys(services.verify.environment).map((name) => [name, known[name] ?? '']);
      const env = { ...bare, NODE_ENV: 'production', ...Object.fromEntries(given) };
      const ended = await run('src/wiring/commands/verify.ts', env, ['--import', without(Object.keys(leftOut))]).ended;
      expect(ended).toMatchObject({ code: 0, error: '' });
      expect(ended.out).toContain('The books are in order.');
      expect(ended.out).toContain(`Public key ${known.SEAL_VERIFICATION_KEYS}`);
    },
    60_000,
  );

  itInFull(
    'The image has every command of the runbook, and the packages that those commands need',
    async () => {
      const typed: Record<string, { arguments: string[]; prints: string }> = {
        'src/wiring/commands/admin.ts': {
          arguments: ['create-super-admin', '--email', 'root@example.org', '--name', 'Root'],
          prints: 'root@example.org',
        },
        'src/wiring/commands/archive.ts': { arguments: ['--help'], prints: 'npm run archive' },
        'src/wiring/commands/keys-reencrypt.ts': { arguments: [], prints: '' },
        'src/wiring/commands/keys-rotate-tokens.ts': { arguments: [], prints: '' },
        'src/wiring/commands/reconcile.ts': { arguments: ['--help'], prints: 'npm run reconcile' },
        'src/wiring/commands/sql.ts': { arguments: ['select 4711 as one'], prints: '4711' },
      };
      const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
        scripts: Record<string, string>;
      };
      const named = Object.entries(scripts).flatMap(([name, command]) => {
        const isNamed = operatorsDocuments.some(({ text }) => new RegExp(`npm run ${name}(?![\\w:])`).test(text));
        return isNamed ? [command.replace('node ', '')] : [];
      });
      const ofTests = [
        'src/wiring/commands/migrate.ts',
        'src/wiring/commands/verify.ts',
        'src/wiring/commands/archive-restore.ts',
      ];
      expect(named.filter((script) => script.startsWith('src/') && !ofTests.includes(script)).toSorted()).toEqual(
        Object.keys(typed),
      );
      for (const [script, { arguments: words, prints }] of Object.entries(typed)) {
        const ended = await run(script, settings, ['--import', without(Object.keys(leftOut))], words).ended;
        expect([script, ended]).toMatchObject([script, { code: 0, out: expect.stringContaining(prints) }]);
      }
    },
    90_000,
  );

  itInFull(
    'src/wiring/commands/reconcile.ts needs database, Temporal and provider, and nothing else',
    async () => {
      const { code, error } = await run('src/wiring/commands/reconcile.ts', { ...bare, DATABASE_URL: database.url })
        .ended;
      expect({ code, error: error.trim() }).toEqual({
        code: 2,
        error:
          'The configuration cannot be used: TEMPORAL_ADDRESS is missing; XENDIT_SECRET_KEY is missing; XENDIT_CALLBACK_TOKEN is missing.',
      });
    },
    60_000,
  );

  itInFull(
    'In production, src/api.ts exits if webhooks to loopback or failpoints are enabled',
    async () => {
      const { code, error } = await run('src/api.ts', {
        ...settings,
        WEBHOOK_ALLOW_LOOPBACK: 'true',
        FAILPOINTS: 'settle-payment.after=kill',
      }).ended;
      expect(code).toBe(1);
      expect(error.trim()).toBe(
        'The configuration cannot be used: WEBHOOK_ALLOW_LOOPBACK is malformed: is refused in production; FAILPOINTS is malformed: is refused in production.',
      );
    },
    60_000,
  );

  it('Production rejects plain http to issuer and provider, all-zero keys, the origin null and sample secrets', () => {
    const complaintsOf = (env: Record<string, string>): string => {
      try {
        readConfig({ ...settings, ...env });
        return '';
      } catch (error) {
        return Error.isError(error) ? error.message : '';
      }
    };
    expect(complaintsOf({})).toBe('');
    expect(complaintsOf({ WEBHOOK_ALLOW_LOOPBACK: 'true' })).toContain(
      'LOOPBACK is malformed: is refused in production',
    );
    expect(complaintsOf({ FAILPOINTS: 'a=kill' })).toContain('FAILPOINTS is malformed: is refused in production');
    expect(complaintsOf({ XENDIT_URL: 'http://provider.example' })).toContain('XENDIT_URL is malformed: must be https');
    const external = {
      AUTH_EXTERNAL_JWKS_URL: 'http://issuer.example/jwks',
      AUTH_EXTERNAL_ISSUER: 'http://issuer.example',
    };
    expect(complaintsOf(external)).toMatch(/AUTH_EXTERNAL_JWKS_URL is malformed.*AUTH_EXTERNAL_ISSUER is malformed/);
    expect(complaintsOf({ XENDIT_URL: 'HTTP://provider.example' })).toContain('XENDIT_URL is malformed: must be https');
    expect(complaintsOf({ ALLOWED_ORIGINS: 'https://a.example,null' })).toContain('ALLOWED_ORIGINS is malformed');
    expect(complaintsOf({ WEBHOOK_PORTS: '443,many' })).toContain('WEBHOOK_PORTS is malformed');
    const zeros = `old:${Buffer.alloc(32).toString('base64')}`;
    expect(complaintsOf({ DATA_ENCRYPTION_KEYS: zeros })).toContain('DATA_ENCRYPTION_KEYS is malformed');
    expect(complaintsOf({ SEAL_SIGNING_KEY: zeros })).toContain('SEAL_SIGNING_KEY is malformed');
    expect(complaintsOf({ S3_SECRET_ACCESS_KEY: 'change-me-too' })).toContain('is the sample value from .env.example');
    expect(complaintsOf({ NODE_ENV: 'development', S3_SECRET_ACCESS_KEY: 'change-me-too' })).toBe('');
  });

  it('In production, migrations reject the sample passwords of roles', () => {
    const sample = (role: string) => `postgresql://${role}:change-me@postgresql:5432/amanah`;
    const env = {
      MIGRATION_DATABASE_URL: sample('amanah_owner'),
      READER_DATABASE_URL: sample('amanah_reader'),
      MIGRATION_KEYS_DATABASE_URL: sample('amanah_owner'),
    };
    expect(() => readMigrationConfig(env)).toThrow(
      'MIGRATION_DATABASE_URL is malformed: is the sample value from .env.example; READER_DATABASE_URL is malformed: is the sample value from .env.example; MIGRATION_KEYS_DATABASE_URL is malformed: is the sample',
    );
    expect(readMigrationConfig({ ...env, NODE_ENV: 'development' }).reader).toBe(env.READER_DATABASE_URL);
  });

  it('Production requires TRUST_PROXY to be set', () => {
    const { TRUST_PROXY: _, ...silent } = settings;
    for (const env of [silent, { ...silent, TRUST_PROXY: '' }]) {
      expect(() => readConfig(env)).toThrow('TRUST_PROXY is m');
    }
    expect(readConfig({ ...silent, TRUST_PROXY: 'true' }).TRUST_PROXY).toBe(true);
    expect(readConfig({ ...silent, NODE_ENV: 'development' }).TRUST_PROXY).toBeUndefined();
  });

  itInFull(
    'A worker needs SEAL_SIGNING_KEY, which is one key of 32 bytes',
    async () => {
      const { SEAL_SIGNING_KEY: _, ...keyless } = settings;
      const { code, error } = await run('src/worker.ts', keyless).ended;
      expect({ code, error: error.trim() }).toEqual({
        code: 1,
        error: 'The configuration cannot be used: SEAL_SIGNING_KEY is missing.',
      });
      const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
      for (const wrong of ['key', 'key:short', `${key('a')},${key('b')}`]) {
        expect(() => readConfig({ ...settings, SEAL_SIGNING_KEY: wrong })).toThrow('SEAL_SIGNING_KEY is malformed');
      }
      expect(() => readConfig({ ...settings, SEAL_VERIFICATION_KEYS: 'a:b' })).toThrow(
        'SEAL_VERIFICATION_KEYS is malf',
      );
      expect(readConfig({ ...settings, SEAL_SIGNING_KEY: key('a') }).SEAL_SIGNING_KEY).toHaveLength(1);
    },
    60_000,
  );

  it('WORKER_DEPLOYMENT_NAME and WORKER_BUILD_ID must be set together', () => {
    expect(() => readConfig({ ...settings, WORKER_DEPLOYMENT_NAME: 'amanah' })).toThrow('WORKER_BUILD_ID is missing');
    expect(() => readConfig({ ...settings, WORKER_BUILD_ID: '1' })).toThrow('WORKER_DEPLOYMENT_NAME is missing');
  });

  it('The API runs in production on the image’s packages, with a metrics port, and exits on SIGTERM', async () => {
    const metricsPort = await findFreePort();
    const env = { ...settings, METRICS_PORT: String(metricsPort) };
    const { child, ended, output } = run('src/api.ts', env, ['--import', without(Object.keys(leftOut))]);
    const http = createHttp(`http://127.0.0.1:${port}`);
    await eventually(
      () =>
        http.get('/readyz').then(
          ({ status }) => status,
          () => output.error,
        ),
      (status) => status === 200,
      60_000,
    );
    expect((await http.get('/openapi.json')).status).toBe(200);
    expect((await http.get('/docs')).status).toBe(200);
    expect((await http.get('/metrics')).status).toBe(404);
    const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toContain('process_cpu_seconds_total');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  }, 90_000);
});
