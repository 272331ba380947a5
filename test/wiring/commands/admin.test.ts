import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateSync } from 'otplib';
import { removeSecondFactor, setPassword } from '../../../src/people/identity/operate-users.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual, buildOrganization } from '../../support/build.ts';
import { eventually } from '../../support/eventually.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { type Stack, startStack } from '../../support/stack.ts';

describe('The admin commands', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ own: true });
  });
  afterAll(() => stack?.stop());

  function run(command: string, args: string[], env: Record<string, string> = stack.env) {
    const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
    execFile(
      process.execPath,
      ['--no-warnings', `src/wiring/commands/${command}.ts`, ...args],
      { env },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
    return promise;
  }
  /** A command gets only the settings that it uses. */
  const given = (...names: string[]) =>
    Object.fromEntries(['PATH', 'DATABASE_URL', ...names].map((name) => [name, stack.env[name] ?? '']));
  const admin = (...args: string[]) => run('admin', args, given('KEYS_DATABASE_URL', 'DATA_ENCRYPTION_KEYS'));
  const logIn = (email: string, password: string) => stack.post('/v1/auth/login', { email, password });

  itInFull('The admin commands print help with --help, for all commands and for one', async () => {
    const all = await admin('--help');
    expect(all.code).toBe(0);
    for (const name of ['create-super-admin', 'set-password', 'suspend-user', 'permission-matrix']) {
      expect(all.stdout).toContain(name);
    }
    const one = await admin('create-super-admin', '--help');
    expect([one.code, one.stdout]).toEqual([0, expect.stringMatching(/--email <value> .*\(required\)/)]);
  });

  it('create-super-admin creates a user who can log in with the generated password, once per address', async () => {
    const email = `${newId()}@example.org`;
    const first = await admin('create-super-admin', '--email', email, '--name', 'Sari', '--json');
    expect([first.code, first.stderr]).toEqual([0, '']);
    const { password, user_id } = JSON.parse(first.stdout);
    const logged = await logIn(email, password);
    expect(logged.body.data.user).toMatchObject({ id: user_id, user_type: 'platform' });
    const me = await stack.get('/v1/auth/me', { token: logged.body.data.access_token });
    expect(me.body.data.role.name).toBe('platform_super_admin');
    const again = await admin('create-super-admin', '--email', email, '--name', 'Sari', '--json');
    expect([again.code, JSON.parse(again.stderr).error.code]).toEqual([2, 'DUPLICATE']);
  });

  it('suspend-user locks a user out', async () => {
    const { email, token } = await buildIndividual(stack);
    expect((await admin('suspend-user', '--email', email)).stdout).toContain(`Suspended ${email}`);
    expect((await stack.get('/v1/auth/me', { token })).status).toBe(401);
  });

  itInFull('activate-user lets a suspended user log in again', async () => {
    const { email } = await buildIndividual(stack);
    await admin('set-password', '--email', email, '--password', 'correct horse battery');
    expect((await admin('suspend-user', '--email', email)).code).toBe(0);
    expect((await logIn(email, 'correct horse battery')).status).toBe(401);
    expect((await admin('activate-user', '--email', email)).code).toBe(0);
    expect((await logIn(email, 'correct horse battery')).status).toBe(200);
  });

  /** Changes users by the command in the full run, else by the function it calls, as a process takes seconds. */
  const change = {
    setPassword: async (email: string, password: string) =>
      isFullRun()
        ? expect((await admin('set-password', '--email', email, '--password', password)).code).toBe(0)
        : setPassword(stack.em(), stack.deps.sealer, { email, password }),
    removeSecondFactor: async (email: string) =>
      isFullRun()
        ? expect((await admin('remove-second-factor', '--email', email)).code).toBe(0)
        : removeSecondFactor(stack.em(), stack.deps.sealer, email),
  };

  it('set-password and remove-second-factor restore a user’s access and revoke earlier sessions', async () => {
    const { email, token } = await buildIndividual(stack);
    await change.setPassword(email, 'correct horse battery');
    expect((await stack.get('/v1/auth/me', { token })).status).toBe(401);
    const fresh = { token: (await logIn(email, 'correct horse battery')).body.data.access_token as string };
    const { secret } = (await stack.post('/v1/auth/totp', undefined, fresh)).body.data;
    expect((await stack.post('/v1/auth/totp/confirm', { code: generateSync({ secret }) }, fresh)).status).toBe(200);
    expect((await logIn(email, 'correct horse battery')).status).toBe(401);
    expect((await stack.get('/v1/auth/me', fresh)).status).toBe(200);
    await change.removeSecondFactor(email);
    expect((await stack.get('/v1/auth/me', fresh)).status).toBe(401);
    expect((await logIn(email, 'correct horse battery')).status).toBe(200);
  });

  itInFull('set-organization-status sets the status', async () => {
    const id = await buildOrganization(stack, { status: 'pending' });
    const { code, stdout } = await admin(
      'set-organization-status',
      '--organization',
      id,
      '--status',
      'active',
      '--json',
    );
    expect([code, JSON.parse(stdout)]).toEqual([0, { organization_id: id, status: 'active' }]);
  });

  it('The admin commands report a mistake without a stack trace and exit with 2', async () => {
    const mistakes = casesOf<[string[], RegExp]>([
      [['fly'], /^There is no command fly/],
      [['create-super-admin', '--email', 'a@example.org'], /^--name missing/],
      [['create-super-admin', '--colour', 'red'], /--colour/],
      [
        ['create-super-admin', '--email', 'a@example.org', '--name', 'A', '--password', 'short'],
        /^password: must have 12/,
      ],
      [['suspend-user', '--email', 'nobody@example.org'], /^The user was not found/],
    ]);
    const answers = await Promise.all(mistakes.map(([args]) => admin(...args)));
    for (const [index, { code, stderr }] of answers.entries()) {
      expect([code, stderr]).toEqual([2, expect.stringMatching(mistakes[index]?.[1] ?? '')]);
      expect(stderr).not.toContain('    at ');
    }
  });

  itInFull('Commands use the stack that runs on DATA_DIR if DATABASE_URL is not set', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'amanah-data-'));
    const env = { PATH: String(stack.env.PATH), DATA_DIR: directory };
    try {
      const none = await run('keys-rotate-tokens', [], env);
      expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('No stack runs on')]);
      writeFileSync(join(directory, 'environment.json'), JSON.stringify({ pid: process.pid, environment: stack.env }));
      const { code, stdout, stderr } = await run('keys-rotate-tokens', ['--json'], env);
      expect([code, stderr]).toEqual([0, '']);
      // A process reloads its keys within seconds of a rotation, not at once.
      await eventually(
        async () => (await stack.get('/.well-known/jwks.json')).body.keys[0].kid,
        (kid) => kid === JSON.parse(stdout).key_id,
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  itInFull(
    'Commands for keys need DATA_ENCRYPTION_KEYS, and admin commands reject failpoints in production',
    async () => {
      for (const command of ['keys-rotate-tokens', 'keys-reencrypt']) {
        const { code, stderr } = await run(command, [], given());
        expect([code, stderr]).toEqual([2, expect.stringContaining('DATA_ENCRYPTION_KEYS is missing')]);
      }
      expect((await run('keys-rotate-tokens', [], given('DATA_ENCRYPTION_KEYS'))).code).toBe(0);
      const armed = { ...given(), NODE_ENV: 'production', FAILPOINTS: 'x=throw' };
      expect((await run('admin', ['suspend-user', '--email', 'a@example.org'], armed)).stderr).toContain('FAILPOINTS');
    },
  );

  itInFull('keys:reencrypt re-encrypts everything under the first key in the list', async () => {
    await stack.get('/.well-known/jwks.json');
    const keys = `newer:${randomBytes(32).toString('base64')},${stack.env.DATA_ENCRYPTION_KEYS}`;
    const env = { ...given('KEYS_DATABASE_URL'), DATA_ENCRYPTION_KEYS: keys };
    const { code, stdout } = await run('keys-reencrypt', ['--json'], env);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ key_id: 'newer', moved: expect.any(Number) }),
    ]);
    expect((await run('keys-reencrypt', [], env)).stdout).toContain('0 values re-encrypted');
  });
});
