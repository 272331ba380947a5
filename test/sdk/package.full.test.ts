import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const program = `
const secret = 'whsec_' + Buffer.alloc(32, 1).toString('base64');
const client = createPartnerClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key', signingSecret: 'secret', attempts: 1 });
Promise.allSettled([verifyWebhook(secret, {}, '{}'), client.balance()]).then((ends) =>
  process.stdout.write(ends.map(({ reason }) => reason.name).join(' ')),
);
`;
const typed = `
import { createPartnerClient, PartnerApiError, verifyWebhook } from 'amanah-partner';
const client = createPartnerClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key', signingSecret: 'secret' });
export const amount: Promise<string> = client.balance().then(({ available }) => available);
export const refused = (error: unknown) => error instanceof PartnerApiError && error.is('FUNDS_LIMIT_EXCEEDED');
// @ts-expect-error: an amount is a string.
client.payments.create({ method: 'qris', amount: 5 });
export const verified = verifyWebhook('whsec_', new Headers(), '').then(({ webhook }) => webhook.type);
`;

describe('The packed partner client', () => {
  const place = mkdtempSync(join(tmpdir(), 'amanah-sdk-'));
  const run = (command: string, args: string[], cwd = place) =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  beforeAll(() => {
    run('npm', ['pack', '--silent', '--pack-destination', place], join(root, 'sdk'));
    const [tarball = ''] = readdirSync(place);
    mkdirSync(join(place, 'project'));
    writeFileSync(join(place, 'project/package.json'), '{"private":true}');
    run('npm', ['install', '--offline', '--silent', '--no-audit', join(place, tarball)], join(place, 'project'));
  }, 120_000);
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  const project = join(place, 'project');
  const names = 'createPartnerClient, verifyWebhook';

  it('The packed client installs without dependencies', () => {
    expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'amanah-partner',
    ]);
  });

  it('The packed client includes the command that forwards webhooks', () => {
    const command = join(project, 'node_modules/.bin/amanah-listen');
    const { status, stderr } = spawnSync('node', [command], { cwd: project, encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('--port is missing')]);
  });

  it.each([
    ['an ES module', 'program.mjs', `import { ${names} } from 'amanah-partner';`],
    ['CommonJS', 'program.cjs', `const { ${names} } = require('amanah-partner');`],
  ])('The packed client works from %s', (_, file, imports) => {
    writeFileSync(join(project, file), `${imports}\n${program}`);
    expect(run('node', [file], project)).toBe('WebhookError NoAnswerError');
  });

  it('The packed client’s types compile in a strict project, from an ES module and from CommonJS', () => {
    const files = ['typed.mts', 'typed.cts'];
    for (const file of files) writeFileSync(join(project, file), typed);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', '', ...files];
    run(join(root, 'node_modules/.bin/tsc'), options, project);
  });
});
