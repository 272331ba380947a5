import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePythonEnvironment, whyNoPython } from '../../dev/python.ts';
import { buildPartnerDocument } from '../../src/partners/partner-document.ts';
import { printPythonModels } from '../../src/partners/python-models.ts';
import { packWheel, wheel } from '../../src/partners/sdk-packages.ts';
import { routeGroups } from '../../src/wiring/app.ts';
import { webhookDocuments } from '../../src/wiring/webhook-documents.ts';
import { type Product, startProduct } from '../support/product.ts';
import { isFullRun } from '../support/run.ts';

const client = join(import.meta.dirname, '../../sdk/python');
const runtimeRequirements = join(client, 'requirements.txt');
const toolRequirements = join(client, 'requirements-dev.txt');
const options = { version: '1.0.0', url: 'http://localhost', webhooks: webhookDocuments };
const document = buildPartnerDocument(routeGroups, options);
const missing = whyNoPython();
if (missing !== null) process.stdout.write(`The Python client is not run: ${missing}.\n`);

describe('The Python client', () => {
  it('The Python client has a call for every partner operation', () => {
    const text = readFileSync(join(client, 'amanah_partner/client.py'), 'utf8').replace(/\{in_path\((\w+)\)\}/g, ':$1');
    const called = text.split('    def ').flatMap((method) => {
      const verb = /"(GET|POST|PATCH|DELETE)"/.exec(method)?.[1];
      const path = /"(\/v1\/partners[^"]*)"/.exec(method)?.[1];
      return verb === undefined ? [] : [`${verb} ${path}`];
    });
    const operations = routeGroups
      .flatMap(({ routes }) => routes)
      .filter(({ access }) => access.kind === 'partner')
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...new Set(called)].toSorted()).toEqual(operations.toSorted());
  });
});

/** The tests in Python, by their names. */
const names = readdirSync(join(client, 'tests'))
  .filter((file) => file.startsWith('test_'))
  .flatMap((file) => [...readFileSync(join(client, 'tests', file), 'utf8').matchAll(/def (test_\w+)\(/g)])
  .map(([, name = '']) => name);

(missing === null ? describe : describe.skip)('The Python client against npm start', () => {
  let product: Product;
  let directory: string;
  let output = '';
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sdk-python-'));
    const data = join(directory, 'data');
    product = startProduct(data);
    const bin = makePythonEnvironment(join(directory, 'environment'), runtimeRequirements);
    // Installed as a partner would install it.
    writeFileSync(join(directory, wheel), packWheel(document));
    execFileSync(join(bin, 'pip'), ['install', '--quiet', '--no-deps', join(directory, wheel)]);
    await product.untilReady();
    output = await runTests(join(bin, 'python'), data);
  }, 240_000);
  afterAll(async () => {
    await product?.stop();
    rmSync(directory, { recursive: true, force: true });
  }, 30_000);

  /** Runs every test in one process, against the installed package instead of its sources; returns the output. */
  function runTests(python: string, data: string): Promise<string> {
    cpSync(join(client, 'tests'), join(directory, 'tests'), { recursive: true });
    const args = [
      '-m',
      'unittest',
      'discover',
      '--verbose',
      '--start-directory',
      'tests',
      '--top-level-directory',
      '.',
    ];
    const child = spawn(python, args, { cwd: directory, env: { ...process.env, DATA_DIR: data } });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk));
    return new Promise((resolve) => child.once('close', () => resolve(printed)));
  }

  it('The Python client has tests', () => expect(names.length).toBeGreaterThan(20));

  it.each(names)('%s', (name) => {
    const ended = new RegExp(`^${name} \\(.*\\) \\.\\.\\. ok$`, 'm').test(output);
    expect({ ended, output: ended ? '' : output }).toEqual({ ended: true, output: '' });
  });
});

(isFullRun() && missing === null ? describe : describe.skip)("The Python client's tools", () => {
  let directory: string;
  let bin: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'sdk-python-tools-'));
    bin = makePythonEnvironment(directory, toolRequirements, runtimeRequirements);
  }, 300_000);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('The Python client and its tests pass the type checker', () => {
    const cwd = join(directory, 'client');
    cpSync(client, cwd, { recursive: true });
    writeFileSync(join(cwd, 'amanah_partner', 'models.py'), printPythonModels(document));
    expect(() => execFileSync(join(bin, 'mypy'), [], { cwd, encoding: 'utf8' })).not.toThrow();
  }, 180_000);
});
