import { emailDigest } from '../../../src/people/members/profile.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildSuperAdmin } from '../../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
const address = (): string => `${newId()}@example.org`;

describe('Signing up', () => {
  let stack: Stack;
  let superAdmin: BuiltUser;
  beforeAll(async () => {
    stack = await startStack();
    superAdmin = await buildSuperAdmin(stack);
  });
  afterAll(async () => {
    await expectChecksEmpty(stack);
    await stack?.stop();
  });

  const eventsOf = async (resourceId: string) =>
    (await stack.get(`/v1/events?resource_id=${resourceId}`, { token: superAdmin.token })).body.data.items;
  const logIn = async (email: string) =>
    (await stack.post('/v1/auth/login', { email, password })).body.data.access_token as string;

  describe('Signing up as an individual', () => {
    it('An individual’s sign-up creates an active user with the default role and one IDR account at zero', async () => {
      const email = address();
      const { status, body } = await stack.post('/v1/auth/signup', { name: 'Ibu Sari', email, password });
      expect(status).toBe(201);
      expect(body.data).toEqual({
        id: expect.any(String),
        email,
        name: 'Ibu Sari',
        user_type: 'individual',
        organization_id: null,
        role_id: '00000000-0000-4000-8000-000000000104',
        profile_picture: null,
        status: 'active',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: expect.any(String),
      });
      const { body: accounts } = await stack.get('/v1/accounts', { token: await logIn(email) });
      expect(accounts.data.items).toEqual([
        expect.objectContaining({ kind: 'user', user_id: body.data.id, currency: 'IDR', balance: '0.0000' }),
      ]);
      expect(await eventsOf(body.data.id)).toEqual([
        expect.objectContaining({ event: 'USER_LOGGED_IN' }),
        expect.objectContaining({ event: 'RESOURCE_CREATED', resource_type: 'user', actor_id: body.data.id }),
      ]);
    });

    it('A password is stored as an argon2id hash, encrypted for its user', async () => {
      const email = address();
      await stack.post('/v1/auth/signup', { name: 'A', email, password });
      const [row] = await stack
        .em()
        .execute<{ id: string; password_sealed: string }[]>(
          'select id, password_sealed from users where email_digest = ?',
          [await emailDigest(stack.deps.sealer, email)],
        );
      const place = { table: 'users', column: 'password_sealed', row: String(row?.id) };
      expect(await stack.deps.sealer.open(place, String(row?.password_sealed))).toMatch(
        /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
      );
    });

    it('Signing up with a taken address returns 400, whatever its case, even for concurrent requests', async () => {
      const email = address();
      const answers = await Promise.all(
        [email, email.toUpperCase(), email].map((each) =>
          stack.post('/v1/auth/signup', { name: 'A', email: each, password }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
      const refused = answers.find(({ status }) => status === 400);
      expect(refused?.body.message).toBe('email: a user with this address already exists');
    });

    it.each<[object, string]>([
      [{ email: 'x@example.org', password }, 'name: is required'],
      [{ name: ' ', email: 'x@example.org', password }, 'name: must not be empty'],
      [{ name: 'A', email: 'nobody', password }, 'email: must be an e-mail address'],
      [{ name: 'A', email: 'x@example.org', password: 'elevenchars' }, 'password: must have at least 12 characters'],
      [
        { name: 'A', email: 'x@example.org', password: '1QAZ2wsx3edc' },
        'password: is one of the most common passwords',
      ],
      [
        { name: 'A', email: 'x@example.org', password: 'Ｑｗｅｒｔｙｑｗｅｒｔｙ' },
        'password: is one of the most common passwords',
      ],
      [
        { name: 'A', email: 'x@example.org', password: 'Qwertyqwerty' },
        'password: is one of the most common passwords',
      ],
      [
        { name: 'A', email: 'Sari.Dewi@example.org', password: 'ibu sari.dewi 7' },
        'password: must not contain the part of the e-mail address before the @',
      ],
      [{ name: 'A', email: 'x@example.org', password, role: 'platform_admin' }, 'role: unknown field'],
      [{ name: 'A', email: 'x@example.org', password, user_type: 'platform' }, 'user_type: unknown field'],
      ...['\u200b', ' \u200d\u2060 ', '\u3164', '\u2800', '\u00ad', '\ufe0f'].map((name): [object, string] => [
        { name, email: 'x@example.org', password },
        'name: must have a visible character',
      ]),
      [{ name: '\u0007', email: 'x@example.org', password }, 'name: must not contain control characters'],
    ])('Signing up as an individual with %j returns 400 and names the field', async (body, message) => {
      const answer = await stack.post('/v1/auth/signup', body);
      expect([answer.status, answer.body.message]).toEqual([400, message]);
    });
  });

  describe('Signing up as an organization', () => {
    const organization = () => ({
      name: 'Yayasan Contoh',
      email: 'office@example.org',
      official_registration_number: 'AHU-0001',
      industry: 'technnology',
      size: 'tens',
      admin: { name: 'Oki', email: address(), password },
    });

    it('An organization’s sign-up creates a pending organization, its admin and one IDR account at zero', async () => {
      const sent = { ...organization(), phone_number: '+62 21 555 0100' };
      const { status, body } = await stack.post('/v1/organizations/signup', sent);
      expect(status).toBe(201);
      expect(body).toEqual({
        message: expect.any(String),
        id: expect.any(String),
        name: 'Yayasan Contoh',
        logo_id: null,
        email: 'office@example.org',
        phone_number: '+62 21 555 0100',
        official_registration_number: 'AHU-0001',
        industry: 'technnology',
        size: 'tens',
        status: 'pending',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      const token = await logIn(sent.admin.email);
      const me = (await stack.get('/v1/auth/me', { token })).body.data;
      expect(me).toMatchObject({
        user_type: 'organization',
        organization_id: body.id,
        role: { name: 'organization_admin' },
      });
      const accounts = (await stack.get('/v1/accounts', { token })).body.data.items;
      expect(accounts).toEqual([
        expect.objectContaining({ kind: 'organization', organization_id: body.id, balance: '0.0000' }),
      ]);
      expect(await eventsOf(body.id)).toEqual([
        expect.objectContaining({ event: 'RESOURCE_CREATED', impact: 'MEDIUM' }),
      ]);
    });

    it('An organization can sign up without phone, registration number, industry and size', async () => {
      const { name, email, admin } = organization();
      const { status, body } = await stack.post('/v1/organizations/signup', { name, email, admin });
      expect([status, body]).toEqual([
        201,
        expect.objectContaining({ phone_number: null, official_registration_number: null, industry: null, size: null }),
      ]);
    });

    it('An organization’s phone number may have its area code in parentheses', async () => {
      const sent = { ...organization(), phone_number: '(021) 555-0100' };
      expect((await stack.post('/v1/organizations/signup', sent)).body.phone_number).toBe('(021) 555-0100');
    });

    it('An organization’s sign-up with a taken admin address returns 400 and creates no organization', async () => {
      const first = organization();
      await stack.post('/v1/organizations/signup', first);
      const count = async () =>
        (await stack.em().execute<{ n: string }[]>('select count(*) as n from organizations'))[0]?.n;
      const before = await count();
      const { status, body } = await stack.post('/v1/organizations/signup', { ...organization(), admin: first.admin });
      expect([status, body.message]).toEqual([400, 'admin.email: a user with this address already exists']);
      expect(await count()).toBe(before);
    });

    it('An organization’s sign-up with a guessable admin password returns 400 and names the field', async () => {
      const admin = { name: 'Oki', email: 'kepala@example.org', password: 'Kepala-yayasan' };
      const { status, body } = await stack.post('/v1/organizations/signup', { ...organization(), admin });
      expect([status, body.message]).toEqual([
        400,
        'admin.password: must not contain the part of the e-mail address before the @',
      ]);
    });

    it.each([
      ['industry', 'technology'],
      ['size', 'dozens'],
      ['phone_number', 'call me'],
      ['email', 'nobody'],
      ['status', 'active'],
    ])('Signing up as an organization with %s "%s" returns 400 and names the field', async (field, value) => {
      const { status, body } = await stack.post('/v1/organizations/signup', { ...organization(), [field]: value });
      expect(status).toBe(400);
      expect(body.message).toMatch(new RegExp(`^${field}: `));
    });
  });
});
