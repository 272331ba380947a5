import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import type { Part } from '../../../dev/part.ts';
import { findFreePort } from '../../../dev/ports.ts';
import { startApi, startWorker } from '../../../dev/service-parts.ts';
import { findSealedColumns } from '../../../src/platform/encryption/reencrypt.ts';
import { isUnderOwnKey } from '../../../src/platform/encryption/sealer.ts';
import { buildPayer, payoutBody, setFaults } from '../../money-out/payouts/build-payouts.ts';
import { createHttp, type Http, type HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, freshKey, signature } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Keys are rotated as the runbook says, while people and partners keep working: no valid request is ever refused. */
const root = join(import.meta.dirname, '..', '..', '..');
const [fresh, old] = ['fresh', 'old'].map((id) => `${id}:${randomBytes(32).toString('base64')}`) as [string, string];
const password = 'a long enough passphrase 7';

let stack: Stack;
let partner: BuiltPartner;
let ports: number[];
/** Two APIs and a worker, by name. */
const parts = new Map<string, Part>();

const keys = (...listed: string[]) => ({ DATA_ENCRYPTION_KEYS: listed.join(',') });
const starts: Record<string, (env: Record<string, string>) => Promise<Part>> = {
  api1: (env) => startApi({ env: { ...env, PORT: String(ports[0]) }, logFile: 'ignore' }),
  api2: (env) => startApi({ env: { ...env, PORT: String(ports[1]) }, logFile: 'ignore' }),
  worker: (env) => startWorker({ env, logFile: 'ignore' }),
};
/** Restarts the processes one after another. */
async function restartAll(env: Record<string, string>): Promise<void> {
  for (const [name, start] of Object.entries(starts)) {
    const running = parts.get(name);
    running?.kill('SIGTERM');
    await running?.exited;
    parts.set(name, await start({ ...stack.env, ...env }));
  }
}

const whenFull = isFullRun() ? describe : describe.skip;
/** Runs a command as an operator does, with the current keys. */
async function run(command: string, env: Record<string, string>): Promise<string> {
  const script = join(root, 'src', 'wiring', 'commands', command);
  const child = spawn(process.execPath, [script], { env: { ...stack.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
  const [code] = await once(child, 'close');
  expect([code, said]).toEqual([0, expect.any(String)]);
  return said;
}

whenFull('Rotating keys under load', () => {
  beforeAll(async () => {
    const env = { ...keys(old, fresh), RATE_LIMIT_REQUESTS_PER_10S: '100000', DRAIN_DELAY_SECONDS: '1' };
    stack = await startStack({ own: true, isImpatient: true, sandbox: true, env });
    partner = await buildPayer(stack, { available: '100000000' });
    ports = [await findFreePort(), await findFreePort()];
    // Callbacks would reach the stack's own API, whose keys are not rotated.
    await setFaults(stack, { callbacks: { drop: true } });
    await restartAll(keys(old));
  }, 120_000);
  afterAll(async () => {
    for (const part of parts.values()) await part.stop();
    await stack.stop();
  });

  it('Rotating keys under load causes no 401 or 500, and then the new key alone decrypts everything', async () => {
    const apis = ports.map((port) => createHttp(`http://127.0.0.1:${port}`));
    const refused: string[] = [];
    /** Retries until one of the APIs returns a final answer, as a client behind a load balancer does. */
    const insist = (what: string, ask: (api: Http) => Promise<HttpAnswer>): Promise<HttpAnswer> => {
      let turn = Math.floor(Math.random() * apis.length);
      return eventually(
        async () => {
          turn += 1;
          const answer = await ask(apis[turn % apis.length] as Http).catch(() => null);
          if (answer !== null && answer.status > 299 && answer.status !== 503 && answer.status !== 504)
            refused.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
          return answer ?? { status: 503, headers: new Headers(), body: null };
        },
        ({ status }) => status !== 503 && status !== 504,
        120_000,
      );
    };

    const made = { tokens: [] as string[], documents: [] as [string, string][], payouts: [] as [string, string][] };
    let rounds = 0;
    let serving = true;
    const pickOf = <T>(all: T[]): T => all[Math.floor(Math.random() * all.length)] as T;
    const person = async (): Promise<void> => {
      const email = `${freshKey()}@example.org`;
      await insist('sign-up', (api) => api.post('/v1/auth/signup', { name: 'Somebody', email, password }));
      const own: string[] = [];
      while (serving) {
        const login = await insist('login', (api) => api.post('/v1/auth/login', { email, password }));
        own.push(login.body.data.access_token);
        const token = pickOf(own);
        const body = { kind: 'passport', number: `P${rounds}`, name_on_document: `Name ${rounds}` };
        const { body: document } = await insist('document', (api) =>
          api.post('/v1/official-documents', body, { token }),
        );
        made.documents.push([String(document.data.official_document.id), own[0] ?? '']);
        const path = `/v1/official-documents/${document.data.official_document.id}`;
        await insist('reading a document', (api) => api.get(path, { token: own[0] ?? '' }));
        await insist('who am I', (api) => api.get('/v1/auth/me', { token: pickOf(own) }));
        rounds += 1;
      }
      made.tokens.push(...own);
    };
    const asPartner = (raw = '') => ({
      token: partner.apiKey,
      headers: { 'content-type': 'application/json', 'x-partner-signature': signature(partner.signingSecret, raw) },
    });
    const readPayout = (id: string) =>
      insist('reading a payout', (api) => api.get(`/v1/partners/payouts/${id}`, asPartner()));
    const clerk = async (): Promise<void> => {
      while (serving) {
        const name = `Beneficiary ${rounds}`;
        const raw = JSON.stringify(payoutBody({ amount: '10000', beneficiary_name: name }));
        const { headers, token } = asPartner(raw);
        const options = { token, raw, headers: { ...headers, 'x-idempotency-key': freshKey() } };
        const { body } = await insist('payout', (api) => api.post('/v1/partners/payouts', undefined, options));
        made.payouts.push([body.data.id, name]);
        // A retry gets the answer that is stored, encrypted, under its key.
        const again = await insist('replay', (api) => api.post('/v1/partners/payouts', undefined, options));
        expect(again.body).toEqual(body);
        const [id, beneficiary] = pickOf(made.payouts);
        expect((await readPayout(id)).body.data.beneficiary_name).toBe(beneficiary);
        rounds += 1;
      }
    };
    const moreRounds = async () => {
      const from = rounds;
      await eventually(
        async () => rounds,
        (now) => now >= from + 6,
        120_000,
      );
    };

    const load = Promise.all([person(), person(), clerk(), clerk()]);
    const rotation = (async () => {
      await moreRounds();
      await run('keys-rotate-tokens.ts', keys(old));
      await restartAll(keys(old, fresh));
      await moreRounds();
      await restartAll(keys(fresh, old));
      await run('keys-rotate-tokens.ts', keys(fresh, old));
      await moreRounds();
      await run('keys-reencrypt.ts', keys(fresh, old));
      await moreRounds();
      expect(await run('keys-reencrypt.ts', keys(fresh, old))).toContain('\n0 values re-encrypted');
      await restartAll(keys(fresh));
      await moreRounds();
    })();
    await rotation.finally(() => {
      serving = false;
    });
    await load;
    expect(refused).toEqual([]);

    // The new key reads everything created under any key, with tokens of all keys, which were rotated twice.
    expect(new Set(made.tokens.map((token) => decodeProtectedHeader(token).kid)).size).toBe(3);
    for (const token of made.tokens) await insist('an old token', (api) => api.get('/v1/auth/me', { token }));
    for (const [id, token] of made.documents)
      await insist('an old document', (api) => api.get(`/v1/official-documents/${id}`, { token }));
    for (const [id, beneficiary] of made.payouts)
      expect((await readPayout(id)).body.data.beneficiary_name).toBe(beneficiary);
    expect(refused).toEqual([]);
    for (const { table, column } of await findSealedColumns(stack.em())) {
      const rows = await stack
        .em()
        .execute<{ sealed: string }[]>(`select ${column} as sealed from ${table} where ${column} is not null`);
      const ids = new Set(rows.map(({ sealed }) => decodeProtectedHeader(sealed).kid));
      // Data under a person's or an order's key is unchanged: only that key is re-encrypted.
      const others = [...ids].filter((id = '') => id !== 'fresh' && !isUnderOwnKey(id));
      expect([table, column, others]).toEqual([table, column, []]);
    }
    for (const table of ['personal_keys', 'order_keys', 'look_up_keys']) {
      const rows = await stack.deps.keysOrm.em
        .fork()
        .execute<{ sealed: string }[]>(`select key_sealed as sealed from ${table} where key_sealed is not null`);
      const ids = new Set(rows.map(({ sealed }) => decodeProtectedHeader(sealed).kid));
      expect([table, [...ids]]).toEqual([table, ['fresh']]);
    }
    await eventually(
      () => stack.em().execute<unknown[]>("select 1 from payouts where status = 'pending'"),
      (pending) => pending.length === 0,
      120_000,
    );
    await expectChecksEmpty(stack);
  }, 900_000);
});
