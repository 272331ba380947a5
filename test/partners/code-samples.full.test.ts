import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Engine as PhpParser } from 'php-parser';
import { whyNoPython } from '../../dev/python.ts';
import { type CodeSample, codeSamples } from '../../src/partners/code-samples.ts';
import { buildPartnerDocument } from '../../src/partners/partner-document.ts';
import { buildApiDocument } from '../../src/wiring/api-document.ts';
import { routeGroups } from '../../src/wiring/app.ts';
import { webhookDocuments } from '../../src/wiring/webhook-documents.ts';
import { buildIndividual } from '../support/build.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { isFullRun } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

interface Operation {
  operationId: string;
  'x-codeSamples': CodeSample[];
}
const options = { version: '1.0.0', url: 'http://localhost', webhooks: webhookDocuments };
const reference = buildPartnerDocument(routeGroups, options) as object as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.values(reference.paths).flatMap((item) => Object.values(item));
const { paths } = buildApiDocument(routeGroups, options.url) as typeof reference;
const everywhere = Object.values(paths)
  .flatMap((item) => Object.values(item))
  .filter((operation) => operation['x-codeSamples']);
const root = join(import.meta.dirname, '..', '..');

/** Text that needs quoting in every language. */
const awkward = { external_ref: `it's "50 %" \\ $HOME \`id\` Žižek`, amount: '50000' };

const endings: Record<string, string> = { curl: 'sh', TypeScript: 'ts', Python: 'py', Go: 'go', PHP: 'php' };
const sourceIn = (samples: CodeSample[], label: string): string =>
  samples.find((sample) => sample.label === label)?.source ?? '';
const place = mkdtempSync(join(tmpdir(), 'code-samples-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Writes every sample of a language, each to its own directory, because Go has one program per directory. */
function writeSamples(label: string): string[] {
  const all: [string, CodeSample[]][] = [
    ...everywhere.map((operation): [string, CodeSample[]] => [operation.operationId, operation['x-codeSamples']]),
    ['awkward', codeSamples({ proof: 'signed', method: 'post', target: '/v1/partners/payments', body: awkward })],
  ];
  return all.map(([name, samples]) => {
    const directory = join(place, label, name);
    mkdirSync(directory, { recursive: true });
    const file = join(directory, `main.${endings[label]}`);
    writeFileSync(file, sourceIn(samples, label));
    return file;
  });
}
const isThere = (program: string, args: string[]): boolean => spawnSync(program, args).status === 0;
const check = (program: string, args: string[], cwd = place): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const each = (files: string[], verify: (file: string) => unknown): void => {
  for (const file of files) verify(file);
};

/** The syntax check of each language, if its tool is installed; otherwise a line reports that nothing was checked. */
const syntax: [label: string, isToolThere: () => boolean, verify: (files: string[]) => void][] = [
  ['curl', () => true, (files) => each(files, (file) => check('bash', ['-n', file]))],
  [
    'TypeScript',
    () => true,
    (files) => {
      symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
      writeFileSync(join(place, 'package.json'), '{"type":"module"}');
      const options = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
      check(join(root, 'node_modules/.bin/tsc'), [...options, '--types', 'node', ...files]);
    },
  ],
  ['Python', () => whyNoPython() === null, (files) => check('python3', ['-m', 'py_compile', ...files])],
  [
    'Go',
    () => isThere('gofmt', ['-h']) || isThere('go', ['version']),
    (files) => {
      // gofmt lists the files that it would format, and fails if it cannot parse one.
      expect(check('gofmt', ['-l', ...files])).toBe('');
      if (!isFullRun()) return;
      writeFileSync(join(place, 'Go', 'go.mod'), 'module samples\n\ngo 1.21\n');
      check('go', ['vet', './...'], join(place, 'Go'));
    },
  ],
  [
    'PHP',
    () => true,
    (files) => {
      // Parses PHP without running it, and throws on a syntax error.
      const parser = new PhpParser({ parser: { version: '8.1', suppressErrors: false } });
      const read = (source: string) => parser.parseCode(source, 'main.php').children.length;
      expect(() => read("<?php\n$body = 'it's';\n")).toThrow(/Parse Error/);
      each(files, (file) => expect(read(readFileSync(file, 'utf8'))).toBeGreaterThan(4));
      if (isThere('php', ['--version'])) each(files, (file) => check('php', ['-l', file]));
    },
  ],
];

describe('The code samples of the partners’ reference', () => {
  it('Each operation has code samples in five languages that sign the body and the whole request', () => {
    expect(operations.length).toBeGreaterThan(20);
    for (const operation of operations) {
      const samples = operation['x-codeSamples'];
      expect(samples.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'Python', 'Go', 'PHP']);
      for (const { source } of samples) {
        expect(source).toMatch(/x-partner-signature['":]/);
        expect(source).toMatch(/x-partner-signature-v2['":]/);
        expect(source).not.toMatch(/\{(id|day)\}/);
      }
    }
  });

  it.each(syntax)(
    'The code samples in %s are valid',
    (label, isToolThere, verify) => {
      const files = writeSamples(label);
      if (isToolThere()) verify(files);
      else process.stdout.write(`The samples in ${label} were not checked: its tool is not installed.\n`);
    },
    300_000,
  );
});

describe('Code samples run against the API', () => {
  let stack: Stack;
  let partner: BuiltPartner;
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
    partner = await buildPartner(stack);
    // The key rejects requests without a signature over the whole request.
    const { status } = await partner.administer('patch', `/keys/${partner.keyId}`, { require_signature_v2: true });
    expect(status).toBe(200);
    writeFileSync(join(place, 'package.json'), '{"type":"module"}');
  }, 120_000);
  afterAll(() => stack.stop());

  const programs: Record<string, string[]> = {
    curl: ['bash'],
    TypeScript: [process.execPath],
    ...(whyNoPython() === null && { Python: ['python3'] }),
    // The first run compiles the libraries, which takes a while.
    ...(isFullRun() && isThere('go', ['version']) && { Go: ['go', 'run'] }),
  };
  const labels = Object.keys(programs);
  const runSample = async (samples: CodeSample[], label: string, more: Record<string, string> = {}) => {
    const file = join(place, `run.${endings[label]}`);
    writeFileSync(file, sourceIn(samples, label));
    const keys = { AMANAH_API_KEY: partner.apiKey, AMANAH_SIGNING_SECRET: partner.signingSecret };
    const env = { ...process.env, AMANAH_API_URL: stack.url, ...keys, ...more };
    const [program = '', ...args] = programs[label] ?? [];
    const { stdout } = await promisify(execFile)(program, [...args, file], { env });
    return JSON.parse(stdout.slice(stdout.indexOf('{')));
  };

  it.each(labels)(
    'The code samples in %s create a quote and a payment and read payments and balance',
    async (label) => {
      const samplesOf = (name: string) =>
        operations.find(({ operationId }) => operationId === name)?.['x-codeSamples'] ?? [];
      const answer = (name: string) => runSample(samplesOf(name), label);
      expect(await answer('createQuote')).toMatchObject({ data: { gross_amount: '500000.0000' } });
      // The same idempotency key in each language: the first answer is replayed.
      const { data: payment } = await answer('createPayment');
      expect(payment).toMatchObject({ status: 'pending', external_ref: 'invoice-2026-0042' });
      expect((await answer('listPayments')).data.items).toMatchObject([{ id: payment.id }]);
      expect(await answer('getBalance')).toMatchObject({ data: { balance: '0.0000' } });
    },
  );

  it.each(labels)('A code sample in %s changes a user’s profile with their token', async (label) => {
    const { token } = await buildIndividual(stack);
    const call = { method: 'patch', target: '/v1/auth/me', body: { name: `Siti in ${label}` } };
    const { data } = await runSample(codeSamples({ proof: 'token', ...call }), label, { AMANAH_ACCESS_TOKEN: token });
    expect(data.name).toBe(`Siti in ${label}`);
  });

  it.each(labels)('A code sample in %s sends every character of its body', async (label) => {
    const body = { method: 'qris', ...awkward };
    const idempotencyKey: [string, string] = ['x-idempotency-key', `awkward-${label}`];
    const call = { method: 'post', target: '/v1/partners/payments', body, idempotencyKey };
    const { data } = await runSample(codeSamples({ proof: 'signed', ...call }), label);
    expect(data).toMatchObject({ external_ref: awkward.external_ref, amount: '50000.0000' });
  });
});
