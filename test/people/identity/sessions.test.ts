import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
const other = 'staple of another horse';

describe('Sessions', () => {
  let stack: Stack;
  let superAdmin: BuiltUser;
  beforeAll(async () => {
    stack = await startStack({ env: { TRUST_PROXY: 'true' } });
    superAdmin = await buildSuperAdmin(stack);
  });
  afterAll(() => stack?.stop());

  /** Each person uses their own network address, so that failures do not add up. */
  let hosts = 0;
  async function signUp(): Promise<{ id: string; email: string; headers: Record<string, string> }> {
    hosts += 1;
    const email = `${newId()}@example.org`;
    const { body } = await stack.post('/v1/auth/signup', { name: 'Somebody', email, password });
    return { id: body.data.id, email, headers: { 'x-forwarded-for': `192.0.2.${hosts}` } };
  }
  type Person = Awaited<ReturnType<typeof signUp>>;
  const logIn = async ({ email, headers }: Person, secret = password) => {
    const { status, body } = await stack.post('/v1/auth/login', { email, password: secret }, { headers });
    return { status, token: String(body.data?.access_token) };
  };
  const me = async (token: string) => (await stack.get('/v1/auth/me', { token })).status;
  const setPassword = ({ headers }: Person, token: string, current_password: string, new_password: string) =>
    stack.put('/v1/auth/password', { current_password, new_password }, { token, headers });
  /** Counts the sessions that wait for a locked row. */
  const waiting = async (): Promise<number> => {
    const [row] = await stack
      .owner()
      .execute<[{ count: number }]>(
        "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
    return row.count;
  };
  const eventsOf = (id: string, event = 'USER_%') =>
    stack
      .em()
      .execute('select event, impact, actor_id, data from events where resource_id = ? and event like ? order by id', [
        id,
        event,
      ]);

  describe('PUT /v1/auth/password', () => {
    it('Changing the password returns a new token; earlier tokens and the old password never work again', async () => {
      const person = await signUp();
      const [first, second] = [await logIn(person), await logIn(person)];
      const { status, headers, body } = await setPassword(person, first.token, password, other);
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          message: expect.any(String),
          data: { access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 },
        },
      });
      expect(headers.get('set-cookie')).toContain('access_token=ey');
      expect(await Promise.all([first.token, second.token, body.data.access_token].map(me))).toEqual([401, 401, 200]);
      expect([(await logIn(person)).status, (await logIn(person, other)).status]).toEqual([401, 200]);
      expect(await eventsOf(person.id, 'RESOURCE_UPDATED')).toEqual([
        { event: 'RESOURCE_UPDATED', impact: 'MEDIUM', actor_id: person.id, data: { changed: ['password'] } },
      ]);
    });

    it.each([
      ['a wrong current password', ['not the password', other], 'current_password: is wrong'],
      ['the same password', [password, password], 'new_password: must differ from the current one'],
      ['a short password', [password, 'short'], 'new_password: must have at least 12 characters'],
      ['a common password', [password, 'Qwerty123456'], 'new_password: is one of the most common passwords'],
    ])(
      'Changing the password with %s returns 400 and changes nothing',
      async (_, [current = '', next = ''], message) => {
        const person = await signUp();
        const { token } = await logIn(person);
        const { status, body } = await setPassword(person, token, current, next);
        expect([status, body.message]).toEqual([400, message]);
        expect([await me(token), (await logIn(person)).status]).toEqual([200, 200]);
      },
    );

    it('Changing the password changes nothing if the token is revoked before the commit', async () => {
      const person = await signUp();
      const [stolen, own] = [await logIn(person), await logIn(person)];
      const holder = stack.owner();
      await holder.begin();
      await holder.execute('select from users where id = ? for update', [person.id]);
      const out = stack.post('/v1/auth/logout-all', undefined, { token: own.token });
      await eventually(waiting, (count) => count === 1);
      const changing = setPassword(person, stolen.token, password, other);
      await eventually(waiting, (count) => count === 2);
      await holder.rollback();
      expect([(await out).status, (await changing).status]).toEqual([200, 401]);
      expect([(await logIn(person)).status, (await logIn(person, other)).status]).toEqual([200, 401]);
    });

    it('Changing the password to one that contains the local part of the address returns 400', async () => {
      const person = await signUp();
      const { token } = await logIn(person);
      const [local = ''] = person.email.split('@');
      const { status, body } = await setPassword(person, token, password, `my ${local.toUpperCase()}!`);
      expect([status, body.message]).toEqual([
        400,
        'new_password: must not contain the part of the e-mail address before the @',
      ]);
    });

    it('A token allows ten guesses of the current password, then returns 429', async () => {
      const person = await signUp();
      const { token } = await logIn(person);
      for (let guess = 0; guess < 10; guess += 1) {
        expect((await setPassword(person, token, `guess ${guess}`, other)).status).toBe(400);
      }
      expect((await setPassword(person, token, password, other)).status).toBe(429);
    });

    it('Of two concurrent password changes with one token only one succeeds', async () => {
      const person = await signUp();
      const { token } = await logIn(person);
      const answers = await Promise.all(
        [1, 2].map((which) => setPassword(person, token, password, `${other} ${which}`)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });
  });

  it('POST /v1/auth/logout-all revokes all tokens of the user and of no one else', async () => {
    const [person, neighbour] = [await signUp(), await signUp()];
    const tokens = [(await logIn(person)).token, (await logIn(person)).token];
    const others = await logIn(neighbour);
    const { status, headers } = await stack.post('/v1/auth/logout-all', undefined, { token: String(tokens[0]) });
    expect([status, headers.get('set-cookie')]).toEqual([200, expect.stringContaining('access_token=;')]);
    expect(await Promise.all([...tokens, others.token].map(me))).toEqual([401, 401, 200]);
    expect(await me((await logIn(person)).token)).toBe(200);
  });

  it('A suspension permanently revokes tokens, and a login afterwards returns a working one', async () => {
    const person = await signUp();
    const { token } = await logIn(person);
    const setStatus = (status: string) =>
      stack.patch(`/v1/users/${person.id}`, { status }, { token: superAdmin.token });
    await setStatus('suspended');
    expect(await me(token)).toBe(401);
    await setStatus('active');
    expect(await me(token)).toBe(401);
    expect(await me((await logIn(person)).token)).toBe(200);
  });

  describe('PATCH /v1/auth/me', () => {
    const patch = (token: string, body: object) => stack.patch('/v1/auth/me', body, { token });

    it('PATCH /v1/auth/me changes name and picture, clears the picture by null, and records only changes', async () => {
      const user = await buildIndividual(stack);
      const changed = await patch(user.token, { name: ' Siti ', profile_picture: 'https://example.org/a.png' });
      expect(changed).toMatchObject({
        status: 200,
        body: { data: { id: user.id, name: 'Siti', profile_picture: 'https://example.org/a.png' } },
      });
      expect((await patch(user.token, { name: 'Siti' })).status).toBe(200);
      expect((await patch(user.token, { profile_picture: null })).body.data.profile_picture).toBeNull();
      expect((await stack.get('/v1/auth/me', { token: user.token })).body.data).toMatchObject({ name: 'Siti' });
      expect(await eventsOf(user.id, 'RESOURCE_UPDATED')).toMatchObject([
        { actor_id: user.id, data: { changed: ['name', 'profile_picture'] } },
        { actor_id: user.id, data: { changed: ['profile_picture'] } },
      ]);
    });

    it.each([
      ['name', ''],
      ['name', null],
      ['name', 'x'.repeat(201)],
      ['profile_picture', 'x'.repeat(501)],
      ['email', 'new@example.org'],
      ['status', 'active'],
      ['role_id', newId()],
    ])('PATCH /v1/auth/me with %s: %j returns 400', async (field, value) => {
      const user = await buildIndividual(stack);
      const { status, body } = await patch(user.token, { [field]: value });
      expect([status, String(body.message)]).toEqual([400, expect.stringContaining(field)]);
    });
  });

  it('Logins, logouts and failed logins are recorded as events for existing accounts only', async () => {
    const person = await signUp();
    await logIn(person, 'not the password');
    const { token } = await logIn(person);
    await stack.post('/v1/auth/logout', undefined, { token });
    await stack.post('/v1/auth/logout-all', undefined, { token: (await logIn(person)).token });
    const data = { second_factor: false };
    expect(await eventsOf(person.id)).toEqual([
      { event: 'USER_LOGIN_FAILED', impact: 'MEDIUM', actor_id: null, data: { reason: 'password' } },
      { event: 'USER_LOGGED_IN', impact: 'LOW', actor_id: person.id, data },
      { event: 'USER_LOGGED_OUT', impact: 'LOW', actor_id: person.id, data: { everywhere: false } },
      { event: 'USER_LOGGED_IN', impact: 'LOW', actor_id: person.id, data },
      { event: 'USER_LOGGED_OUT', impact: 'LOW', actor_id: person.id, data: { everywhere: true } },
    ]);
    const failures = "select count(*)::int as count from events where event = 'USER_LOGIN_FAILED'";
    const [before] = await stack.em().execute<{ count: number }[]>(failures);
    await logIn({ ...person, email: 'nobody@example.org' });
    expect((await stack.em().execute<{ count: number }[]>(failures))[0]).toEqual(before);
  });
});
