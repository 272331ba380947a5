import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** What a partner writes around either generated client: the signature over the bytes that are sent. */
const signing = `
import { createHmac } from 'node:crypto';
export const { API_URL = '', API_KEY = '', SIGNING_SECRET = '' } = process.env;
export async function sign(request: Request): Promise<Request> {
  const body = await request.clone().text();
  request.headers.set('authorization', 'Bearer ' + API_KEY);
  request.headers.set('x-partner-signature', createHmac('sha256', SIGNING_SECRET).update(body).digest('hex'));
  return request;
}
`;
const withOpenapiFetch = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';
import { API_URL, sign } from './sign.js';
const client = createClient<paths>({ baseUrl: API_URL });
client.use({ onRequest: ({ request }) => sign(request) });
const { data, error } = await client.POST('/v1/partners/quotes', { body: { method: 'qris', amount: '50000' } });
if (error) throw new Error(error.error.code);
const gross: string = data.data.gross_amount;
// @ts-expect-error: an amount is a string.
void (() => client.POST('/v1/partners/quotes', { body: { method: 'qris', amount: 50000 } }));
console.log(gross);
`;
const withHeyApi = `
import { client } from './hey-api/client.gen.js';
import { createQuote } from './hey-api/index.js';
import { API_URL, sign } from './sign.js';
client.setConfig({ baseUrl: API_URL });
client.interceptors.request.use((request) => sign(request));
const { data, error } = await createQuote({ body: { method: 'qris', amount: '50000' } });
if (error) throw new Error(error.error.code);
const gross: string = data.data.gross_amount;
// @ts-expect-error: an amount is a string.
void (() => createQuote({ body: { method: 'qris', amount: 50000 } }));
console.log(gross);
`;

describe("A client generated from the partners' reference", () => {
  let stack: Stack;
  let partner: BuiltPartner;
  const place = mkdtempSync(join(tmpdir(), 'amanah-generators-'));
  const run = (program: string, args: string[]) =>
    execFileSync(program, args, { cwd: place, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const binary = (name: string) => join(place, 'node_modules', '.bin', name);
  beforeAll(async () => {
    cpSync(join(import.meta.dirname, 'generators'), place, { recursive: true });
    run('npm', ['ci', '--ignore-scripts', '--silent', '--no-audit', '--no-fund']);
    stack = await startStack();
    partner = await buildPartner(stack);
    for (const document of ['openapi.json', 'openapi-partners.json']) {
      writeFileSync(join(place, document), JSON.stringify((await stack.get(`/${document}`)).body));
    }
    writeFileSync(join(place, 'sign.ts'), signing);
  }, 240_000);
  afterAll(async () => {
    await stack?.stop();
    rmSync(place, { recursive: true, force: true });
  });

  it.each([
    ['openapi-typescript', ['openapi.json', '-o', 'whole.ts']],
    ['openapi-ts', ['-i', 'openapi.json', '-o', 'whole', '--no-log-file']],
  ])(
    'by %s of the document of the whole API compiles, too',
    (generator, args) => {
      run(process.execPath, [binary(generator), ...args]);
      run(binary('tsc'), ['--project', place]);
    },
    180_000,
  );

  it.each([
    ['openapi-typescript', ['openapi-partners.json', '-o', 'schema.ts'], withOpenapiFetch],
    ['openapi-ts', ['-i', 'openapi-partners.json', '-o', 'hey-api', '--no-log-file'], withHeyApi],
  ])(
    'by %s compiles, and makes a signed call',
    async (generator, args, program) => {
      run(process.execPath, [binary(generator), ...args]);
      const file = join(place, `by-${generator}`);
      writeFileSync(`${file}.ts`, program);
      run(binary('tsc'), ['--project', place]);
      const keys = { API_KEY: partner.apiKey, SIGNING_SECRET: partner.signingSecret };
      const env = { ...process.env, API_URL: stack.url, ...keys };
      const { stdout } = await promisify(execFile)(process.execPath, [`${file}.js`], { cwd: place, env });
      expect(stdout).toBe('50000.0000\n');
    },
    180_000,
  );
});
