import type { EntityManager } from '@mikro-orm/postgresql';
import { generateSync } from 'otplib';
import { newId } from '../../../src/shared/ids.ts';
import { casesOf } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';

describe('A second factor', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ isImpatient: true, env: { TRUST_PROXY: 'true' } });
  });
  afterAll(() => stack?.stop());

  let hosts = 0;
  async function signUp() {
    hosts += 1;
    const email = `${newId()}@example.org`;
    const headers = { 'x-forwarded-for': `192.0.2.${hosts}` };
    const { body } = await stack.post('/v1/auth/signup', { name: 'Somebody', email, password });
    const logIn = (more: object = {}) => stack.post('/v1/auth/login', { email, password, ...more }, { headers });
    const token: string = (await logIn()).body.data.access_token;
    const begin = () => stack.post('/v1/auth/totp', undefined, { token });
    const confirm = (code: string) => stack.post('/v1/auth/totp/confirm', { code }, { token, headers });
    const remove = (code: string) => stack.delete('/v1/auth/totp', { code }, { token, headers });
    return { id: body.data.id as string, email, headers, token, logIn, begin, confirm, remove };
  }
  /** Returns the current code, or the code of this many 30-second steps later. */
  const codeOf = (secret: string, steps = 0) =>
    generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + 30 * steps });
  /** Creates a person who confirmed a second factor a while ago, so that the current code is unused. */
  async function secured() {
    const person = await signUp();
    const { secret } = (await person.begin()).body.data as { secret: string };
    const { body } = await person.confirm(codeOf(secret));
    await stack.owner().execute('update second_factors set last_step = 0 where id = ?', [person.id]);
    return { ...person, secret, recoveryCodes: body.data.recovery_codes as string[] };
  }
  const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

  it('A second factor is required even if it was confirmed while a login without a code waited', async () => {
    const person = await signUp();
    const { secret } = (await person.begin()).body.data as { secret: string };
    const confirm = async (tx: EntityManager) => {
      await tx.execute('select from users where id = ? for update', [person.id]);
      const waiting = person.logIn();
      await untilLocked(stack, { text: 'select from users where id' });
      await tx.execute('update second_factors set confirmed_at = now() where id = ?', [person.id]);
      return { waiting };
    };
    const { waiting } = await stack.em().transactional(confirm);
    const { status, body } = await waiting;
    expect([status, body.message]).toEqual([401, 'totp_code: is required']);
    expect((await person.logIn({ totp_code: codeOf(secret) })).status).toBe(200);
  });

  it('A second factor starts with a secret and a URI for the app, and is not required until confirmed', async () => {
    const person = await signUp();
    const { status, body } = await person.begin();
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        message: expect.any(String),
        data: { secret: expect.stringMatching(/^[A-Z2-7]{32}$/), otpauth_url: expect.any(String) },
      },
    });
    const url = new URL(body.data.otpauth_url);
    expect([url.protocol, url.host, url.searchParams.get('secret')]).toEqual(['otpauth:', 'totp', body.data.secret]);
    expect(decodeURIComponent(url.pathname)).toBe(`/Amanah:${person.email}`);
    expect((await person.logIn()).status).toBe(200);
    const again = await person.begin();
    expect(again.body.data.secret).not.toBe(body.data.secret);
    expect((await person.confirm(codeOf(body.data.secret))).status).toBe(400);
    const [row] = await stack.em().execute('select secret_sealed from second_factors where id = ?', [person.id]);
    expect(JSON.stringify(row)).not.toContain(again.body.data.secret);
  });

  it('Confirming a second factor returns ten recovery codes, stored as digests; another one returns 400', async () => {
    const person = await signUp();
    const { secret } = (await person.begin()).body.data;
    const { status, body } = await person.confirm(codeOf(secret));
    expect([status, new Set(body.data.recovery_codes).size]).toEqual([200, 10]);
    const rows = await stack.em().execute('select code_hash from recovery_codes where user_id = ?', [person.id]);
    expect(rows).toHaveLength(10);
    for (const code of body.data.recovery_codes) expect(JSON.stringify(rows)).not.toContain(code);
    expect([(await person.begin()).status, (await person.confirm(codeOf(secret, 1))).status]).toEqual([400, 400]);
  });

  it('A second factor is requested only after the right password, and each code works once', async () => {
    const { logIn, secret } = await secured();
    const without = await logIn();
    expect([without.status, without.body.message]).toEqual([401, 'totp_code: is required']);
    const wrongPassword = await logIn({ password: 'not the password' });
    expect(wrongPassword.body.message).toBe('The e-mail address or the password is wrong');
    const code = codeOf(secret);
    const good = await logIn({ totp_code: code });
    expect([good.status, claimsOf(good.body.data.access_token).amr]).toEqual([200, ['pwd', 'otp']]);
    const replayed = await logIn({ totp_code: code });
    expect([replayed.status, replayed.body.message]).toEqual([401, 'totp_code: is wrong or already used']);
    // Codes older than the last used one are spent too.
    expect((await logIn({ totp_code: codeOf(secret, -1) })).status).toBe(401);
    expect((await logIn({ totp_code: codeOf(secret, 1) })).status).toBe(200);
  });

  it('A TOTP code works once, even in concurrent logins', async () => {
    const { logIn, secret } = await secured();
    const code = codeOf(secret);
    const answers = await Promise.all(Array.from({ length: 6 }, () => logIn({ totp_code: code })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('A recovery code works once, in any notation, and never for another person', async () => {
    const [person, neighbour] = [await secured(), await secured()];
    const [code = '', next = ''] = person.recoveryCodes;
    expect((await neighbour.logIn({ totp_code: code })).status).toBe(401);
    expect((await person.logIn({ totp_code: code.toUpperCase().replaceAll('-', ' ') })).status).toBe(200);
    expect((await person.logIn({ totp_code: code })).status).toBe(401);
    const twins = await Promise.all([1, 2].map(() => person.logIn({ totp_code: next })));
    expect(twins.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it.each(casesOf(['000000', '12', 'x', '0000000', "' or true --"]))(
    'The wrong TOTP code %j counts as a failed login',
    async (code) => {
      const { id, logIn } = await secured();
      expect((await logIn({ totp_code: code })).status).toBe(401);
      const events = await stack
        .em()
        .execute("select data from events where event = 'USER_LOGIN_FAILED' and resource_id = ?", [id]);
      expect(events).toEqual([{ data: { reason: 'totp_code' } }]);
    },
  );

  it('After ten wrong TOTP codes even the right one returns 429', async () => {
    const { logIn, secret } = await secured();
    for (let guess = 0; guess < 10; guess += 1) expect((await logIn({ totp_code: '000000' })).status).toBe(401);
    expect((await logIn({ totp_code: codeOf(secret) })).status).toBe(429);
  });

  it('After ten wrong codes for one account, from whatever addresses, every code returns 429', async () => {
    const person = await secured();
    const guessFrom = (address: string, more: object = { totp_code: '000000' }) =>
      stack.post(
        '/v1/auth/login',
        { email: person.email, password, ...more },
        { headers: { 'x-forwarded-for': address } },
      );
    for (let host = 1; host <= 9; host += 1) {
      expect((await guessFrom(`198.51.100.${host}`, { totp_code: host % 2 ? '000000' : 'aaaaa-bbbbb' })).status).toBe(
        401,
      );
    }
    // A login without a code and a wrong password do not count as guesses of the code.
    expect((await guessFrom('198.51.100.20', {})).status).toBe(401);
    expect((await guessFrom('198.51.100.20', { password: 'wrong horse battery' })).status).toBe(401);
    expect((await person.remove('000000')).status).toBe(400);
    for (const address of ['198.51.100.21', person.headers['x-forwarded-for']]) {
      const { status, headers } = await guessFrom(address, { totp_code: codeOf(person.secret) });
      expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    }
    expect((await person.remove(codeOf(person.secret))).status).toBe(429);
    const other = await secured();
    expect((await other.logIn({ totp_code: codeOf(other.secret).replace(/^.../, '$& ') })).status).toBe(200);
  });

  it('Concurrent guesses of TOTP codes are limited like consecutive ones', async () => {
    const begun = await signUp();
    await begun.begin();
    const [person, other] = [await secured(), await secured()];
    const answersTo = async (guess: (code: string) => Promise<{ status: number }>) => {
      // Retries attempts that time out on a busy machine.
      const untilTold = (code: string) =>
        eventually(
          () => guess(code),
          ({ status }) => status !== 503,
        );
      const answers = await Promise.all(
        Array.from({ length: isFullRun() ? 40 : 13 }, (_, which) => untilTold(`guess ${which}`)),
      );
      return answers.filter(({ status }) => status !== 429).length;
    };
    expect(await answersTo(begun.confirm)).toBe(10);
    expect(await answersTo(person.remove)).toBe(10);
    expect(await answersTo((code) => other.logIn({ totp_code: code }))).toBe(10);
  });

  it('A second factor is removed only with a code; then the password alone suffices', async () => {
    const { logIn, secret, remove, recoveryCodes } = await secured();
    const wrong = await remove('000000');
    expect([wrong.status, wrong.body.message]).toEqual([400, 'code: is wrong or already used']);
    expect((await logIn()).status).toBe(401);
    expect((await remove(codeOf(secret))).status).toBe(200);
    expect((await remove(codeOf(secret, 1))).status).toBe(400);
    const { status, body } = await logIn();
    expect([status, claimsOf(body.data.access_token).amr]).toEqual([200, ['pwd']]);
    expect((await logIn({ totp_code: recoveryCodes[0] })).status).toBe(200);
  });

  it('A session keeps its second factor after a password change, and a recovery code can remove it', async () => {
    const { logIn, remove, recoveryCodes, headers } = await secured();
    const { body } = await logIn({ totp_code: recoveryCodes[0] });
    const token: string = body.data.access_token;
    const next = { current_password: password, new_password: 'staple of another horse' };
    const changed = await stack.put('/v1/auth/password', next, { token, headers });
    expect(claimsOf(changed.body.data.access_token).amr).toEqual(['pwd', 'otp']);
    // The password change has revoked the token used here.
    expect((await remove(recoveryCodes[1] ?? '')).status).toBe(401);
    const options = { token: changed.body.data.access_token as string, headers };
    expect((await stack.delete('/v1/auth/totp', { code: recoveryCodes[1] }, options)).status).toBe(200);
  });

  it('A session renewed after its second factor was removed no longer counts as two-factor', async () => {
    const person = await secured();
    const login = await person.logIn({ totp_code: codeOf(person.secret) });
    const token: string = login.body.data.access_token;
    expect(claimsOf(token).amr).toEqual(['pwd', 'otp']);
    expect((await person.remove(String(person.recoveryCodes[0]))).status).toBe(200);
    const changed = await stack.put(
      '/v1/auth/password',
      { current_password: password, new_password: 'staple of another horse' },
      { token, headers: person.headers },
    );
    expect([changed.status, claimsOf(changed.body.data.access_token).amr]).toEqual([200, ['pwd']]);
  });

  it('A session begun with a removed second factor does not count as two-factor with a new one', async () => {
    const person = await secured();
    const { access_token: token } = (await person.logIn({ totp_code: codeOf(person.secret) })).body.data;
    expect((await person.remove(String(person.recoveryCodes[0]))).status).toBe(200);
    const { secret } = (await person.begin()).body.data;
    expect((await person.confirm(codeOf(secret))).status).toBe(200);
    const changed = await stack.put(
      '/v1/auth/password',
      { current_password: password, new_password: 'staple of another horse' },
      { token, headers: person.headers },
    );
    expect([changed.status, claimsOf(changed.body.data.access_token).amr]).toEqual([200, ['pwd']]);
  });

  it.each(['begun', 'confirmed', 'removed'])('A second factor cannot be %s with a revoked token', async (what) => {
    const person = what === 'removed' ? await secured() : await signUp();
    const secret = what === 'confirmed' ? (await person.begin()).body.data.secret : undefined;
    const { access_token: own } = (
      await person.logIn('secret' in person ? { totp_code: codeOf(String(person.secret)) } : {})
    ).body.data;
    const holder = stack.owner();
    await holder.begin();
    await holder.execute('select from users where id = ? for update', [person.id]);
    const waiting = async () => {
      const [row] = await holder.execute<[{ count: number }]>(
        "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return row.count;
    };
    const out = stack.post('/v1/auth/logout-all', undefined, { token: own });
    await eventually(waiting, (count) => count === 1);
    const acting =
      what === 'begun'
        ? person.begin()
        : what === 'confirmed'
          ? person.confirm(codeOf(secret))
          : person.remove('recoveryCodes' in person ? String((person.recoveryCodes as string[])[0]) : '');
    await eventually(waiting, (count) => count === 2);
    await holder.rollback();
    expect([(await out).status, (await acting).status]).toEqual([200, 401]);
    const [row] = await stack
      .owner()
      .execute<{ confirmed: boolean }[]>(
        'select confirmed_at is not null as confirmed from second_factors where id = ?',
        [person.id],
      );
    expect(row?.confirmed).toBe({ begun: undefined, confirmed: false, removed: true }[what]);
  });
});
