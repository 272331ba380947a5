import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Credentials } from '../../dev/credentials.ts';
import { findFreePort } from '../../dev/ports.ts';
import { postgresUrl, startPostgres } from '../../dev/postgres.ts';
import { isRunning, type ProcessRecord } from '../../dev/process-records.ts';
import { keepSecrets } from '../../dev/secrets.ts';
import { cloneDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { casesOf, itInFull } from '../support/full.ts';
import { createHttp } from '../support/http.ts';
import { type Product, startProduct } from '../support/product.ts';
import { testRun } from '../support/run.ts';

let directory: string;
beforeEach(() => {
  // Closed to other users, as `mktemp -d` makes it.
  directory = mkdtempSync(join(tmpdir(), 'start-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const start = (env?: Record<string, string>): Product => startProduct(directory, env);

const processes = (): ProcessRecord[] => JSON.parse(readFileSync(join(directory, 'processes.json'), 'utf8'));

async function stop(product: Product): Promise<void> {
  const records = processes();
  expect(await product.stop()).toBe(0);
  expect(product.output()).toContain('Everything has stopped; the data is kept.');
  expect(records.filter(isRunning)).toEqual([]);
}

/** Replaces every part except PostgreSQL. */
function replacements(): Record<string, string> {
  const { temporal, s3 } = testRun();
  return {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_TASK_QUEUE: 'replaced-parts',
    S3_ENDPOINT: `http://127.0.0.1:${s3.port}`,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    XENDIT_URL: 'http://127.0.0.1:9',
    XENDIT_SECRET_KEY: 'xnd_test_replaced',
  };
}

async function logIn({ urls, individual }: Credentials) {
  const api = createHttp(urls.api);
  const { email, password } = individual;
  const { status, body } = await api.post('/v1/auth/login', { email, password });
  expect({ status, body }).toMatchObject({ status: 200 });
  const token: string = body.data.access_token;
  const answer = await api.get(`/v1/accounts/${individual.account_id}`, { token });
  return { balance: answer.body.data.balance, user: body.data.user, token };
}

describe('npm start', () => {
  it('npm start starts everything, restarts killed processes, rejects a second start and exits cleanly', async () => {
    const first = start();
    await first.untilReady();
    // A start without problems prints no warning.
    expect(
      first
        .output()
        .split('\n')
        .filter((line) => /"level":[456]0/.test(line)),
    ).toEqual([]);
    const file = join(directory, 'credentials.json');
    expect(first.output()).toContain(`  Partner's keys     ${file}, under partner\n`);
    expect(first.output()).toContain(`  For partners       ${first.credentials().urls.docs}/partners\n`);
    const next = first.output().split('\n').slice(-4);
    expect(next.map((line) => line.replace(/ +#.*/, ''))).toEqual([
      `  DATA_DIR=${directory} npx node examples/partner.ts`,
      `  DATA_DIR=${directory} npm run demo`,
      `  DATA_DIR=${directory} npm run verify`,
      '',
    ]);
    const before = first.credentials();
    expect(before).toEqual({
      urls: {
        api: expect.stringMatching(/^http/),
        docs: `${before.urls.api}/docs`,
        temporal_ui: expect.stringMatching(/^http/),
        temporal_address: expect.stringMatching(/^127/),
        sandbox: expect.stringMatching(/^http/),
        database: expect.stringMatching(/^postgresql:\/\/amanah:/),
      },
      platform_super_admin: expect.objectContaining({ account_id: null, organization_id: null }),
      second_super_admin: expect.objectContaining({ account_id: null, organization_id: null }),
      third_super_admin: expect.objectContaining({ account_id: null, organization_id: null }),
      platform_admin: expect.objectContaining({ email: expect.any(String), user_id: expect.any(String) }),
      organization_admin: expect.objectContaining({
        organization_id: expect.any(String),
        account_id: expect.any(String),
      }),
      individual: expect.objectContaining({ account_id: expect.any(String), password: expect.any(String) }),
      second_individual: expect.objectContaining({ account_id: expect.any(String) }),
      partner: expect.any(Object),
      gateway_callback_token: expect.any(String),
    });
    for (const file of ['credentials.json', 'secrets.json', 'environment.json']) {
      expect(statSync(join(directory, file)).mode & 0o077).toBe(0);
    }
    const { environment } = JSON.parse(readFileSync(join(directory, 'environment.json'), 'utf8'));
    expect(environment.DATABASE_URL).toMatch(/^postgresql:\/\/amanah_app:/);
    expect(environment.READER_DATABASE_URL).toMatch(/^postgresql:\/\/amanah_reader:/);
    expect(JSON.stringify(environment)).not.toContain(new URL(before.urls.database).password);
    expect(await logIn(before)).toMatchObject({ balance: '10000000.0000' });
    for (const url of [
      before.urls.docs,
      `${before.urls.docs}/partners`,
      before.urls.temporal_ui ?? '',
      before.urls.sandbox ?? '',
    ]) {
      expect((await fetch(url)).status).toBe(200);
    }

    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/^A stack already runs on \S+ \(process \d+\): .*\n$/);

    const api = processes().find(({ name }) => name === 'api');
    process.kill(api?.pid ?? 0, 'SIGKILL');
    await first.untilPrinted('The API runs again');
    expect(await logIn(before)).toMatchObject({ balance: '10000000.0000' });
    await stop(first);
    expect(existsSync(join(directory, 'environment.json'))).toBe(false);
  }, 240_000);

  itInFull(
    'npm start kills the leftover processes of a killed start, and keeps its data',
    async () => {
      const first = start();
      await first.untilReady();
      const before = first.credentials();
      const orphans = processes();
      first.child.kill('SIGKILL');
      await first.ended;
      const second = start();
      await second.untilReady();
      expect(orphans.filter(isRunning)).toEqual([]);
      expect(second.credentials()).toEqual(before);
      expect(await logIn(second.credentials())).toMatchObject({ balance: '10000000.0000' });
      await stop(second);
    },
    420_000,
  );

  itInFull(
    'npm start skips the parts that the environment replaces',
    async () => {
      const database = await cloneDatabase();
      const started = start({
        DATABASE_URL: database.url,
        MIGRATION_DATABASE_URL: database.ownerUrl,
        KEYS_DATABASE_URL: database.keysUrl,
        MIGRATION_KEYS_DATABASE_URL: database.keysOwnerUrl,
        ...replacements(),
      });
      await started.untilReady();
      // Commands that need the sandbox are not suggested.
      expect(started.output()).not.toContain('npm run demo');
      expect(
        processes()
          .map(({ name }) => name)
          .sort(),
      ).toEqual(['api', 'worker']);
      expect(started.credentials().urls).toMatchObject({
        sandbox: null,
        temporal_ui: null,
        database: database.ownerUrl,
      });
      expect((await fetch(`${started.credentials().urls.api}/readyz`)).status).toBe(200);
      await stop(started);
      await database.drop();
    },
    240_000,
  );

  itInFull(
    'npm start writes the credentials as soon as the API answers, whatever else is still starting',
    async () => {
      const database = await cloneDatabase();
      // No worker starts at a Temporal server that accepts connections and never answers.
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const address = silent.address();
      const port = await findFreePort();
      const started = start({
        ...replacements(),
        DATABASE_URL: database.url,
        MIGRATION_DATABASE_URL: database.ownerUrl,
        KEYS_DATABASE_URL: database.keysUrl,
        MIGRATION_KEYS_DATABASE_URL: database.keysOwnerUrl,
        TEMPORAL_ADDRESS: `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
        PORT: String(port),
      });
      const answers = () =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          () => true,
          () => false,
        );
      await eventually(answers, (answered) => answered, 180_000);
      const credentials = started.credentials();
      expect(started.output()).not.toContain('Amanah runs');
      const { balance, token } = await logIn(credentials);
      expect(balance).toBe('10000000.0000');
      // Requests that need a workflow are refused for now, and the terminal says why.
      await started.untilPrinted('requests that need a workflow get 503 until the worker runs');
      const order = {
        reference_type: 'account_top_up',
        reference_id: credentials.individual.account_id,
        payment_id: 1,
      };
      const topUp = { ...order, amount: 50_000 };
      const { status } = await createHttp(credentials.urls.api).post('/v1/payments/gateway', topUp, { token });
      expect(status).toBe(503);
      await stop(started);
      silent.close();
      await database.drop();
    },
    240_000,
  );

  itInFull(
    'npm start refuses a data directory with another baseline, and says what to do',
    async () => {
      const postgres = {
        directory: join(directory, 'postgres'),
        port: await findFreePort(),
        password: keepSecrets(directory).databasePassword,
        database: 'amanah',
      };
      const part = await startPostgres(postgres, { logFile: 'ignore' });
      const client = new pg.Client({ connectionString: postgresUrl(postgres) });
      await client.connect();
      await client.query('create table schema_migrations (id serial primary key, name text, executed_at timestamptz)');
      await client.query("insert into schema_migrations (name) values ('m0001-baseline')");
      await client.end();
      await part.stop();

      const started = start(replacements());
      expect(await started.ended).toBe(1);
      expect(started.output()).toContain('The database amanah was created by a version before 1.0.0');
      expect(started.output()).toMatch(
        new RegExp(`Its data directory is ${directory}: move it away, .* and start again\\.\n$`),
      );
      expect(started.output()).not.toContain('    at ');
    },
    240_000,
  );

  it('npm start names the variable of a port that is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = String(typeof address === 'object' && address ? address.port : 0);
    for (const variable of casesOf(['PORT', 'TEMPORAL_UI_PORT'])) {
      const started = start({ [variable]: port });
      expect(await started.ended).toBe(1);
      expect(started.output()).toContain(
        `\nPort ${port} is in use by another program: set ${variable} to a free one.\n`,
      );
      expect(started.output()).not.toContain('    at ');
    }
    await new Promise((resolve) => server.close(resolve));
  }, 120_000);

  it.each(casesOf(['--help', '-h']))('npm start with %s prints its help and starts nothing', async (argument) => {
    const started = startProduct(directory, {}, [argument]);
    expect(await started.ended).toBe(0);
    expect(started.output()).toMatch(/^npm start\n\nStarts the whole product/);
    for (const variable of ['DATA_DIR', 'PORT', 'TEMPORAL_UI_PORT', 'DATABASE_URL', 'XENDIT_URL']) {
      expect(started.output()).toMatch(new RegExp(`^  ${variable} +\\S`, 'm'));
    }
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each(casesOf(['--port=4000', 'help']))(
    'npm start rejects the argument %s with one sentence, and starts nothing',
    async (argument) => {
      const started = startProduct(directory, {}, [argument]);
      expect(await started.ended).toBe(1);
      expect(started.output()).toBe(
        `npm start does not accept ${argument}: set variables instead; npm start -- --help lists them.\n`,
      );
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it.each(
    casesOf<[Record<string, string>, string]>([
      [{ PORT: 'many' }, 'PORT is malformed'],
      [
        { S3_ENDPOINT: 'http://127.0.0.1:9' },
        'S3_ENDPOINT is set, so S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be',
      ],
      [{ XENDIT_SECRET_KEY: 'xnd_x' }, 'XENDIT_SECRET_KEY is set, so XENDIT_URL must be set too.'],
    ]),
  )('npm start rejects the environment %j with one sentence', async (env, sentence) => {
    const started = start(env);
    expect(await started.ended).toBe(1);
    expect(started.output()).toContain(sentence);
    expect(started.output().trim().split('\n')).toHaveLength(1);
  });
});
