import { newId } from '../../../src/shared/ids.ts';
import { buildOrganizationAdmin } from '../../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ env: { TRUST_PROXY: 'true', RATE_LIMIT_SIGNUPS_PER_HOUR: '3' } });
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const address = () => `${newId()}@example.org`;
const signUp = (from: string, email = address()) =>
  stack.post('/v1/auth/signup', { name: 'A', email, password }, { headers: { 'x-forwarded-for': from } });
const signUpOrganization = (from: string) =>
  stack.post(
    '/v1/organizations/signup',
    { name: 'O', email: address(), admin: { name: 'A', email: address(), password } },
    { headers: { 'x-forwarded-for': from } },
  );
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();

describe('RATE_LIMIT_SIGNUPS_PER_HOUR', () => {
  it('Sign-ups from one address never exceed the limit, even concurrently; excess ones return 429', async () => {
    const from = '203.0.113.50';
    const ways = [signUp, signUpOrganization, signUp, signUpOrganization, signUp];
    expect(statusesOf(await Promise.all(ways.map((way) => way(from))))).toEqual([201, 201, 201, 429, 429]);
    for (const way of [signUp, signUpOrganization]) {
      const { status, headers } = await way(from);
      expect(status).toBe(429);
      const wait = Number(headers.get('retry-after'));
      expect(wait > 3500 && wait <= 3600).toBe(true);
    }
    expect((await signUp('203.0.113.51')).status).toBe(201);
    await stack.owner().execute("update sign_ups set made_at = made_at - interval '1 hour' where address = ?", [from]);
    expect((await signUp(from)).status).toBe(201);
    const [left] = await stack.em().execute('select count(*)::int as count from sign_ups where address = ?', [from]);
    expect(left).toEqual({ count: 1 });
  });

  it('Invitations of an organization pending approval count as sign-ups', async () => {
    const from = '203.0.113.52';
    const admin = await buildOrganizationAdmin(stack);
    const invite = () =>
      stack.post(
        '/v1/users/invitations',
        { email: address(), name: 'A', user_type: 'individual' },
        { token: admin.token, headers: { 'x-forwarded-for': from } },
      );
    const setStatus = (status: string) =>
      stack.owner().execute('update organizations set status = ? where id = ?', [status, admin.organizationId]);
    await setStatus('pending');
    expect((await signUp(from)).status).toBe(201);
    expect(statusesOf(await Promise.all([invite(), invite(), invite()]))).toEqual([201, 201, 429]);
    await setStatus('active');
    expect((await invite()).status).toBe(201);
  });

  it('The sign-up limit counts an IPv6 /64 as one address and does not count refused sign-ups', async () => {
    const email = address();
    expect(statusesOf([await signUp('2001:db8::1', email), await signUp('2001:db8::2', email)])).toEqual([201, 400]);
    expect(statusesOf([await signUp('2001:db8::3'), await signUp('2001:db8::4')])).toEqual([201, 201]);
    expect((await signUp('2001:db8::ffff')).status).toBe(429);
  });
});

describe('Probing for accounts by sign-ups', () => {
  it('Probing for accounts by sign-ups is throttled like guessing passwords', async () => {
    const email = address();
    expect((await signUp('203.0.113.60', email)).status).toBe(201);
    const answers: number[] = [];
    for (let asked = 0; asked < 11; asked += 1) answers.push((await signUp('203.0.113.61', email)).status);
    expect(answers).toEqual([...Array(10).fill(400), 429]);
    expect((await signUp('203.0.113.61')).status).toBe(201);
  });
});
