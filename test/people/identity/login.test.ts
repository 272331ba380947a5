import { hash } from '@node-rs/argon2';
import { hashForSignUp, verifyPassword } from '../../../src/people/identity/password.ts';
import { emailDigest } from '../../../src/people/members/profile.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { meetChange } from '../../support/meet-change.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
/** The number of wrong passwords among concurrent guesses. */
const wrongGuesses = isFullRun() ? 39 : 14;

describe('Logging in and out', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({
      isImpatient: true,
      env: { TRUST_PROXY: 'true', ALLOWED_ORIGINS: 'https://app.example,app://localhost' },
    });
  });
  afterAll(() => stack?.stop());

  async function signUp(): Promise<{ email: string; id: string }> {
    const email = `Person.${newId()}@Example.org`;
    const { status, body } = await stack.post('/v1/auth/signup', { name: 'Person', email, password });
    expect(status).toBe(201);
    return { email, id: body.data.id };
  }
  const logIn = (email: string, secret = password, address = '203.0.113.7') =>
    stack.post('/v1/auth/login', { email, password: secret }, { headers: { 'x-forwarded-for': address } });

  it('Logging in ignores the case of the address, returns a token with its user, and sets the cookie', async () => {
    const { email, id } = await signUp();
    const { status, body, headers } = await logIn(email.toUpperCase());
    expect(status).toBe(200);
    expect(body).toEqual({
      message: expect.any(String),
      data: {
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: expect.any(String),
        user: expect.objectContaining({ id, email, user_type: 'individual', status: 'active' }),
      },
    });
    expect(JSON.stringify(body)).not.toMatch(/hash|argon/);
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toContain(`access_token=${body.data.access_token}`);
    for (const attribute of ['httponly', 'samesite=lax', 'secure', 'path=/']) {
      expect(cookie.toLowerCase()).toContain(attribute);
    }
    const me = await stack.get('/v1/auth/me', { token: body.data.access_token });
    expect(me.body.data).toMatchObject({ id, role: { name: 'individual_user' } });
    expect(me.body.data.permissions).toContain('top-up-account');
  });

  it('Logging in ignores white space around the address, as signing up does', async () => {
    const email = `${newId()}@example.org`;
    const padded = `  \u00a0${email}\u2003 `;
    const signedUp = await stack.post('/v1/auth/signup', { name: 'Somebody', email: padded, password });
    expect([signedUp.status, signedUp.body.data.email]).toEqual([201, email]);
    for (const written of [email, padded]) expect([written, (await logIn(written)).status]).toEqual([written, 200]);
    const again = await stack.post('/v1/auth/signup', { name: 'Somebody', email: `\u3000${email}`, password });
    expect(again.status).toBe(400);
  });

  it('Logging in returns one 401 for a wrong password and an unknown, invited or suspended user', async () => {
    const { email } = await signUp();
    const suspended = await signUp();
    const { token } = await buildPlatformAdmin(stack);
    await stack.patch(`/v1/users/${suspended.id}`, { status: 'suspended' }, { token });
    const invited = `${newId()}@example.org`;
    await stack.post('/v1/users/invitations', { email: invited, name: 'I', user_type: 'individual' }, { token });
    const answers = await Promise.all([
      logIn(email, 'wrong password', '203.0.113.1'),
      logIn(`${newId()}@example.org`, password, '203.0.113.2'),
      logIn(suspended.email, password, '203.0.113.3'),
      logIn(invited, password, '203.0.113.4'),
    ]);
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([401, answers[0]?.body]);
    }
  });

  it.each([
    ['suspends the user', "status = 'suspended'"],
    ['gives the user another password', "password_sealed = 'another', token_generation = token_generation + 1"],
  ])('A login that waits for a transaction that %s returns 401', async (_, change) => {
    const { email, id } = await signUp();
    const begin = () => logIn(email, password, '203.0.113.5');
    const { status, body } = await meetChange(
      stack,
      { table: 'users', id, sql: `update users set ${change} where id = ?` },
      begin,
    );
    expect([status, body.message]).toEqual([401, 'The e-mail address or the password is wrong']);
    expect(
      await stack.em().execute("select 1 from events where resource_id = ? and event = 'USER_LOGGED_IN'", [id]),
    ).toEqual([]);
  });

  it('Logging in does the same work for an unknown address as for a wrong password', async () => {
    const { email } = await signUp();
    const stranger = `${newId()}@example.org`;
    const work = { known: [] as number[], unknown: [] as number[] };
    // Measures the CPU time of this process, which excludes waiting.
    const attempt = async (address: string, network: string) => {
      const before = process.cpuUsage();
      await logIn(address, 'wrong password', network);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    for (let turn = 0; turn < 7; turn += 1) {
      work.known.push(await attempt(email, '203.0.113.20'));
      work.unknown.push(await attempt(stranger, '203.0.113.21'));
    }
    const median = (of: number[]) => of.toSorted((a, b) => a - b)[3] as number;
    expect(median(work.unknown) / median(work.known)).toBeGreaterThan(0.4);
    expect(median(work.unknown) / median(work.known)).toBeLessThan(2.5);
  });

  it('Many sign-ups from different addresses do not starve a login', async () => {
    const ended: string[] = [];
    const { sealer } = stack.deps;
    const signUps = Array.from({ length: 8 }, (_, n) =>
      hashForSignUp(sealer, newId(), password, `192.0.2.${n}`).then(() => ended.push('sign-up')),
    );
    const login = verifyPassword(sealer, null, password, { address: '203.0.113.21' }).then(() => ended.push('login'));
    await Promise.all([...signUps, login]);
    expect(ended.indexOf('login')).toBeLessThan(3);
  });

  it('Many sign-ups from one address do not starve a sign-up from another', async () => {
    const ended: string[] = [];
    const attempt = (who: string, address: string) =>
      hashForSignUp(stack.deps.sealer, newId(), password, address).then(() => ended.push(who));
    const many = Array.from({ length: 8 }, () => attempt('many', '192.0.2.1'));
    await Promise.all([...many, attempt('one', '192.0.2.2')]);
    expect(ended.indexOf('one')).toBeLessThan(3);
  });

  it('Many logins of strangers do not starve a login from an address used within 30 days', async () => {
    const [regular, home] = [await signUp(), '203.0.113.22'];
    expect((await logIn(regular.email, password, home)).status).toBe(200);
    const ended: string[] = [];
    const attempt = async (who: string, email: string, secret: string, address: string) => {
      await logIn(email, secret, address);
      ended.push(who);
    };
    const strangers = Array.from({ length: 30 }, (_, n) =>
      attempt('stranger', `${newId()}@example.org`, 'wrong password', `192.0.2.${n + 1}`),
    );
    await eventually(
      async () => ended.length,
      (count) => count > 2,
    );
    await Promise.all([...strangers, attempt('regular', regular.email, password, home)]);
    // Only the strangers whose check had started or completed come first.
    expect(ended.indexOf('regular')).toBeLessThan(15);
  });

  it('Many logins of one account from its own address do not starve a login from a new address', async () => {
    const [busy, other, home] = [await signUp(), await signUp(), '203.0.113.23'];
    expect((await logIn(busy.email, password, home)).status).toBe(200);
    const ended: string[] = [];
    const attempt = async (email: string, address: string) => {
      const { status } = await logIn(email, password, address);
      ended.push(`${email} ${status}`);
    };
    const many = Array.from({ length: 30 }, () => attempt(busy.email, home));
    await eventually(
      async () => ended.length,
      (count) => count > 2,
    );
    await Promise.all([...many, attempt(other.email, '203.0.113.24')]);
    expect(ended.indexOf(`${other.email} 200`)).toBeLessThan(15);
  });

  it('A password matches in any Unicode form, and its hash is stored in normalized form', async () => {
    const [composed, apart] = ['pässwörd-ñandú', 'pässwörd-ñandú'].map((text, index) =>
      text.normalize(index === 0 ? 'NFC' : 'NFD'),
    ) as [string, string];
    const email = `${newId()}@example.org`;
    expect((await stack.post('/v1/auth/signup', { name: 'Zoë', email, password: apart })).status).toBe(201);
    expect((await logIn(email, composed)).status).toBe(200);
    expect((await logIn(email, apart)).status).toBe(200);
    // A hash of a decomposed password, as stored in earlier versions, is accepted and replaced.
    const stored = 'select password_sealed from users where id = ?';
    const [row] = await stack.em().execute<{ id: string }[]>('select id from users order by created_at desc limit 1');
    const id = String(row?.id);
    const place = { table: 'users', column: 'password_sealed', row: id };
    const asTyped = await stack.deps.sealer.seal(place, await hash(apart));
    await stack.owner().execute('update users set password_sealed = ? where id = ?', [asTyped, id]);
    expect((await logIn(email, composed)).status).toBe(401);
    const [before] = await stack.em().execute(stored, [id]);
    expect((await logIn(email, apart)).status).toBe(200);
    expect(await stack.em().execute(stored, [id])).not.toEqual([before]);
    expect((await logIn(email, composed)).status).toBe(200);
  });

  it('A password’s length is counted in its normalized form', async () => {
    const short = 'é'.repeat(11).normalize('NFD');
    const { status, body } = await stack.post('/v1/auth/signup', {
      name: 'Zoë',
      email: 'z@example.org',
      password: short,
    });
    expect([status, body.message]).toEqual([400, 'password: must have at least 12 characters']);
    const [email, long] = [`${newId()}@example.org`, '한국어 비밀번호 '.repeat(20).normalize('NFD')];
    expect((await stack.post('/v1/auth/signup', { name: 'Zoë', email, password: long })).status).toBe(201);
    expect((await logIn(email, long)).status).toBe(200);
    expect((await logIn(email, 'x'.repeat(257))).status).toBe(400);
  });

  it('Logging in returns 429 after 10 failures for one account and address, even with the right password', async () => {
    const { email } = await signUp();
    const other = await signUp();
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await logIn(email, 'wrong password', '203.0.113.30')).status).toBe(401);
    }
    const throttled = await logIn(email, password, '203.0.113.30');
    expect([throttled.status, throttled.body.error]).toEqual([429, 'Too Many Requests']);
    const wait = Number(throttled.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(800);
    expect(wait).toBeLessThanOrEqual(900);
    expect((await logIn(email, password, '203.0.113.31')).status).toBe(200);
    expect((await logIn(other.email, password, '203.0.113.30')).status).toBe(200);
    await stack.owner().execute("update login_failures set failed_at = failed_at - interval '15 minutes'");
    expect((await logIn(email, password, '203.0.113.30')).status).toBe(200);
  });

  it('Concurrent guesses of a password are limited like consecutive ones', async () => {
    const { email } = await signUp();
    const asked = Array.from({ length: wrongGuesses + 1 }, () => logIn(email, 'wrong password', '203.0.113.35'));
    await Promise.all(asked);
    expect((await logIn(email, password, '203.0.113.35')).status).toBe(429);
  });

  itInFull(
    'A correct password after ten concurrent wrong guesses returns the same 429 as another wrong one',
    async () => {
      const { email } = await signUp();
      const secrets = [...Array.from({ length: wrongGuesses }, (_, index) => `wrong password ${index}`), password];
      // Retries attempts that time out on a busy machine.
      const untilTold = (secret: string) =>
        eventually(
          () => logIn(email, secret, '203.0.113.36'),
          ({ status }) => status !== 503,
        );
      const answers = await Promise.all(secrets.map(untilTold));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
      // The right password is accepted if early, otherwise refused like every attempt after the tenth failure.
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(wrongGuesses - 10);
      expect(refused.map(({ body }) => body)).toEqual(refused.map(() => refused[0]?.body));
    },
  );

  it('Logging in returns 429 after 100 failures from one address over many accounts', async () => {
    const { email } = await signUp();
    await stack.owner().execute(
      `insert into login_failures (address, account_hash)
       select '203.0.113.40', md5(n::text) from generate_series(1, 99) n`,
    );
    expect((await logIn(email, 'wrong password', '203.0.113.40')).status).toBe(401);
    expect((await logIn(email, password, '203.0.113.40')).status).toBe(429);
    expect((await logIn(email, password, '203.0.113.41')).status).toBe(200);
  });

  const spellings = [
    ['capitals', 'SITI'],
    ['a capital I with a dot', 's\u0130ti'],
    ['a dotless i', 's\u0131ti'],
    ['spaces around it', ' siti'],
  ] as const;
  it.each(casesOf(spellings, (_, index) => index < 2))(
    'An address written with %s shares its login throttle if it is the same, and is unknown otherwise',
    async (_, written) => {
      const local = `siti${newId()}`;
      const email = `${local}@example.org`;
      const headers = { 'x-forwarded-for': '198.51.100.77' };
      await stack.owner().execute('delete from login_failures');
      await stack.post('/v1/auth/signup', { name: 'Siti', email, password: 'correct horse battery' });
      const logIn = (as: string, password: string) =>
        stack.post('/v1/auth/login', { email: as, password }, { headers });
      for (let count = 0; count < 10; count += 1) await logIn(email, 'a wrong password');
      const { status } = await logIn(email.replace('siti', written), 'correct horse battery');
      expect(written.trim().toLowerCase() === 'siti' ? 429 : 401).toBe(status);
    },
  );

  itInFull('Strangers behind a shared address never lock out users who logged in there within 30 days', async () => {
    const [regular, newcomer] = [await signUp(), await signUp()];
    const shared = '203.0.113.45';
    expect((await logIn(regular.email, password, shared)).status).toBe(200);
    await stack
      .owner()
      .execute(
        `insert into login_failures (address, account_hash) select ?, md5(n::text) from generate_series(1, 100) n`,
        [shared],
      );
    expect((await logIn(newcomer.email, password, shared)).status).toBe(429);
    expect((await logIn(regular.email, password, shared)).status).toBe(200);
    // The account's own failures from that address still count.
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await logIn(regular.email, 'wrong password', shared)).status).toBe(401);
    }
    expect((await logIn(regular.email, password, shared)).status).toBe(429);
    const account = await emailDigest(stack.deps.sealer, regular.email);
    await stack.owner().execute('delete from login_failures where account_hash = ?', [account]);
    expect((await logIn(regular.email, password, shared)).status).toBe(200);
    await stack.owner().execute("update known_logins set logged_in_at = now() - interval '31 days'");
    expect((await logIn(regular.email, password, shared)).status).toBe(429);
  });

  it('The login throttle counts an IPv6 /64 as one address', async () => {
    const { email } = await signUp();
    for (let attempt = 0; attempt < 10; attempt += 1) {
      await logIn(email, 'wrong password', `2001:db8:1:2::${attempt + 1}`);
    }
    expect((await logIn(email, password, '2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await logIn(email, password, '2001:db8:1:3::1')).status).toBe(200);
  });

  it('The login throttle uses the client address reported by the last proxy, not by the client', async () => {
    const { email } = await signUp();
    for (let attempt = 0; attempt < 10; attempt += 1) {
      await logIn(email, 'wrong password', `198.51.100.${attempt}, 203.0.113.50`);
    }
    expect((await logIn(email, password, '198.51.100.99, 203.0.113.50')).status).toBe(429);
  });

  it('Logging out revokes the token and clears the cookie', async () => {
    const { email } = await signUp();
    const token = (await logIn(email)).body.data.access_token;
    const second = (await logIn(email)).body.data.access_token;
    const { status, headers } = await stack.post('/v1/auth/logout', undefined, { token });
    expect(status).toBe(200);
    expect(headers.get('set-cookie')).toMatch(/access_token=;.*expires=Thu, 01 Jan 1970/i);
    expect((await stack.get('/v1/auth/me', { token })).status).toBe(401);
    expect((await stack.post('/v1/auth/logout', undefined, { token })).status).toBe(401);
    expect((await stack.get('/v1/auth/me', { token: second })).status).toBe(200);
  });

  describe('Requests authenticated by cookie', () => {
    it.each([
      ['the origin of PUBLIC_URL', () => new URL(stack.url).origin, 200],
      ['an origin of ALLOWED_ORIGINS', () => 'https://app.example', 200],
      ['an app’s origin of ALLOWED_ORIGINS', () => 'app://localhost', 200],
      ['a foreign origin', () => 'https://evil.example', 403],
      ['an origin that only starts like ours', () => 'https://app.example.evil.example', 403],
      ['no origin', () => undefined, 403],
      ['the origin null', () => 'null', 403],
    ])('A cookie-authenticated write needs an allowed Origin (%s)', async (_, originOf, status) => {
      const { token } = await buildIndividual(stack);
      const origin = originOf();
      const headers = { cookie: `access_token=${token}`, ...(origin === undefined ? {} : { origin }) };
      expect((await stack.get('/v1/auth/me', { headers })).status).toBe(200);
      expect((await stack.post('/v1/auth/logout', undefined, { headers })).status).toBe(status);
      expect((await stack.get('/v1/auth/me', { token })).status).toBe(status === 200 ? 401 : 200);
    });
  });

  it('Logging in without a password returns 400 and names the field', async () => {
    const { status, body } = await stack.post('/v1/auth/login', { email: 'a@example.org' });
    expect([status, body.message]).toEqual([400, 'password: is required']);
  });
});
