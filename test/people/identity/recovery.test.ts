import { generateSync } from 'otplib';
import { newId } from '../../../src/shared/ids.ts';
import { buildCause } from '../../giving/causes/build-cause.ts';
import { buildIndividual, buildSuperAdmin, fund } from '../../support/build.ts';
import { awaitMail, mailsTo, tokenIn } from '../../support/mail.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
const another = 'staple battery horse correct';

describe('An account', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ worker: true });
  });
  afterAll(async () => {
    await expectChecksEmpty(stack);
    await stack?.stop();
  });

  const signUp = async () => {
    const email = `${newId()}@example.org`;
    const { body } = await stack.post('/v1/auth/signup', { name: 'Ibu Sari', email, password });
    return { id: body.data.id as string, email };
  };
  const logIn = async (email: string, secret = password) => stack.post('/v1/auth/login', { email, password: secret });
  const me = (token: string) => stack.get('/v1/auth/me', { token });
  const refresh = (refresh_token: string) => stack.post('/v1/auth/refresh', { refresh_token });
  const mailRows = async (email: string) => {
    const digest = await stack.deps.sealer.digest(email);
    const find = 'select m.kind from mails m join users u on u.id = m.user_id where u.email_digest = ?';
    return (await stack.em().execute<{ kind: string }[]>(find, [digest])).map(({ kind }) => kind);
  };
  const forgot = (email: string) => stack.post('/v1/auth/password/forgot', { email });

  it('A password reset request returns the same response for any address, after at least 240 ms', async () => {
    const { email } = await signUp();
    const measure = async (address: string) => {
      const since = performance.now();
      const { status, body } = await forgot(address);
      return { status, body, ms: performance.now() - since };
    };
    const known = await measure(email);
    const unknown = await measure(`${newId()}@example.org`);
    expect(known.status).toBe(200);
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    expect(Math.min(known.ms, unknown.ms)).toBeGreaterThan(240);
    await awaitMail(stack, email, /kata sandi baru/);
  });

  it('An account receives at most ten reset mails an hour, even for concurrent requests', async () => {
    const { email } = await signUp();
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 12 }, () => forgot(email)));
    const written = (await mailRows(email)).filter((kind) => kind === 'reset_password').length;
    expect([written > 0, written <= 10]).toEqual([true, true]);
  });

  it('A reset token sets a password once, revokes all sessions, confirms the address and sends a notice', async () => {
    const { email } = await signUp();
    const { access_token, refresh_token } = (await logIn(email)).body.data;
    await forgot(email);
    const token = tokenIn(await awaitMail(stack, email, /Atur kata sandi/));
    const weak = await stack.post('/v1/auth/password/reset', { token, password: 'qwertyqwerty' });
    expect([weak.status, weak.body.message]).toEqual([400, 'password: is one of the most common passwords']);
    expect((await stack.post('/v1/auth/password/reset', { token, password: another })).status).toBe(200);
    expect((await stack.post('/v1/auth/password/reset', { token, password })).status).toBe(400);
    expect((await me(access_token)).status).toBe(401);
    expect((await refresh(refresh_token)).status).toBe(401);
    expect((await logIn(email)).status).toBe(401);
    const { body } = await logIn(email, another);
    expect((await me(body.data.access_token)).body.data.email_confirmed_at).not.toBeNull();
    await awaitMail(stack, email, /telah diganti/);
  });

  const enrol = async (token: string) => {
    const { secret } = (await stack.post('/v1/auth/totp', undefined, { token })).body.data as { secret: string };
    const code = () => generateSync({ secret, epoch: Math.floor(Date.now() / 1000) });
    expect((await stack.post('/v1/auth/totp/confirm', { code: code() }, { token })).status).toBe(200);
  };
  const bankAccount = { bank_code: 'BCA', account_number: '1234567890', account_holder: 'Sari' };
  /** Creates a monthly donation to an active cause. */
  const subscriptionTo = async () => {
    const [superAdmin, organizer] = [await buildSuperAdmin(stack), await buildIndividual(stack)];
    return { cause_id: await buildCause(stack, organizer, superAdmin), amount: '1', interval: 'monthly' };
  };
  /** Returns the path of the member's standing order in a circle that starts later. */
  const placeInCircle = async ({ token, accountId: account_id }: { token: string; accountId: string }) => {
    const start_date = new Date(Date.now() + 30 * 86_400_000).toISOString();
    const circle = { account_id, name: 'Arisan', start_date, amount: '1', visibility: 'public' };
    const { body } = await stack.post('/v1/saving-circles', circle, { token });
    const joined = await stack.post('/v1/saving-circles/members', { saving_circle_id: body.id }, { token });
    return `/v1/saving-circles/${body.id}/members/${joined.body.data.members[0].id}/standing-order`;
  };
  const reset = async (email: string) => {
    await forgot(email);
    const token = tokenIn(await awaitMail(stack, email, /Atur kata sandi/));
    expect((await stack.post('/v1/auth/password/reset', { token, password: another })).status).toBe(200);
  };

  it('A reset of an unconfirmed account revokes its second factor, bank accounts and recurring payments', async () => {
    const { id, email } = await signUp();
    const { access_token: token } = (await logIn(email)).body.data;
    await enrol(token);
    expect((await stack.post('/v1/bank-accounts', bankAccount, { token })).status).toBe(201);
    const squatter = { token, accountId: (await stack.get('/v1/accounts', { token })).body.data.items[0].id };
    await fund(stack, squatter.accountId, '10');
    const subscription = { ...(await subscriptionTo()), source_account_id: squatter.accountId };
    expect((await stack.post('/v1/donations/subscriptions', subscription, { token })).status).toBe(201);
    const standingOrder = await placeInCircle(squatter);
    const ordered = await stack.put(standingOrder, { source_account_id: squatter.accountId }, { token });
    expect(ordered.status).toBe(200);
    await reset(email);
    const { status, body } = await logIn(email, another);
    expect([status, body.message]).toEqual([200, 'Logged in']);
    const { access_token: owner } = body.data;
    const subscriptions = await stack.get('/v1/donations/subscriptions', { token: owner });
    expect(subscriptions.body.data.items).toMatchObject([{ status: 'stopped' }]);
    expect((await stack.delete(standingOrder, undefined, { token: owner })).status).toBe(404);
    const left = await stack.get('/v1/bank-accounts', { token: body.data.access_token });
    expect(left.body.data.items).toEqual([]);
    await awaitMail(stack, email, /Faktor kedua Anda dimatikan/);
    const removed = "select data from events where resource_id = ? and data ->> 'second_factor' = 'removed'";
    expect(await stack.em().execute(removed, [id])).toHaveLength(1);
  });

  it('A reset of an account whose address bounces revokes its bank accounts and recurring payments', async () => {
    const { id, email } = await signUp();
    const { access_token: token } = (await logIn(email)).body.data;
    expect((await stack.post('/v1/bank-accounts', bankAccount, { token })).status).toBe(201);
    const { id: accountId } = (await stack.get('/v1/accounts', { token })).body.data.items[0];
    const standingOrder = await placeInCircle({ token, accountId });
    expect((await stack.put(standingOrder, { source_account_id: accountId }, { token })).status).toBe(200);
    await stack.owner().execute('update users set email_bounced_at = now() where id = ?', [id]);
    await reset(email);
    const { access_token: owner } = (await logIn(email, another)).body.data;
    expect((await stack.get('/v1/bank-accounts', { token: owner })).body.data.items).toEqual([]);
    expect((await stack.delete(standingOrder, undefined, { token: owner })).status).toBe(404);
  });

  it.each(['confirmed', 'bounced after it was confirmed'])(
    'A reset keeps the second factor of an account whose address was %s',
    async (state) => {
      const { id, email } = await signUp();
      const { access_token: token } = (await logIn(email)).body.data;
      const confirmation = tokenIn(await awaitMail(stack, email, /Konfirmasi/));
      expect((await stack.post('/v1/auth/email/confirm', { token: confirmation })).status).toBe(200);
      await enrol(token);
      expect((await stack.post('/v1/bank-accounts', bankAccount, { token })).status).toBe(201);
      if (state !== 'confirmed') {
        const bounce = 'update users set email_confirmed_at = null, email_bounced_at = now() where id = ?';
        await stack.owner().execute(bounce, [id]);
      }
      await reset(email);
      const { status, body } = await logIn(email, another);
      expect([status, body.message]).toEqual([401, 'totp_code: is required']);
    },
  );

  it('A refresh token renews a session once; its reuse revokes all tokens of the session', async () => {
    const { email } = await signUp();
    const first = (await logIn(email)).body.data;
    const second = await refresh(first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body.data).toMatchObject({ token_type: 'Bearer', expires_in: 3600, user: { email } });
    expect((await me(second.body.data.access_token)).status).toBe(200);
    expect((await refresh(first.refresh_token)).status).toBe(401);
    for (const token of [first.access_token, second.body.data.access_token]) expect((await me(token)).status).toBe(401);
    expect((await refresh(second.body.data.refresh_token)).status).toBe(401);
    await awaitMail(stack, email, /sesi telah diakhiri/);
    expect((await logIn(email)).status).toBe(200);
  });

  it('Of two concurrent refreshes one succeeds, and after a logout from one or all sessions none does', async () => {
    const { email } = await signUp();
    const { refresh_token } = (await logIn(email)).body.data;
    const both = await Promise.all([refresh(refresh_token), refresh(refresh_token)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    for (const path of ['/v1/auth/logout', '/v1/auth/logout-all']) {
      const session = (await logIn(email)).body.data;
      expect((await stack.post(path, undefined, { token: session.access_token })).status).toBe(200);
      expect((await refresh(session.refresh_token)).status).toBe(401);
    }
  });

  it('An invitation is mailed, and accepting it confirms the address and logs the user in', async () => {
    const superAdmin = await buildSuperAdmin(stack);
    const email = `${newId()}@example.org`;
    const invitation = { email, name: 'Budi', user_type: 'individual' };
    expect((await stack.post('/v1/users/invitations', invitation, { token: superAdmin.token })).status).toBe(201);
    const token = tokenIn(await awaitMail(stack, email, /diundang/));
    const { status, body } = await stack.post('/v1/auth/invitations/accept', { token, password });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ email, token_type: 'Bearer', refresh_token: expect.any(String) });
    expect((await me(body.data.access_token)).body.data.email_confirmed_at).not.toBeNull();
  });

  it('A user can set the language of mails and which notices to receive', async () => {
    const { email } = await signUp();
    const { access_token: token } = (await logIn(email)).body.data;
    expect((await me(token)).body.data).toMatchObject({ locale: 'id', notices: { receipts: true, reminders: true } });
    const changed = await stack.patch('/v1/auth/me', { locale: 'en', notices: { reminders: false } }, { token });
    expect(changed.body.data).toMatchObject({ locale: 'en', notices: { receipts: true, reminders: false } });
    const refused = await stack.patch('/v1/auth/me', { notices: { security: false } }, { token });
    expect(refused.status).toBe(400);
    const { status } = await stack.put(
      '/v1/auth/password',
      { current_password: password, new_password: another },
      { token },
    );
    expect(status).toBe(200);
    await awaitMail(stack, email, /Your password was changed/);
  });

  it('A login from a new address and a new bank account each cause a mail, which masks the account number', async () => {
    const { email } = await signUp();
    await logIn(email);
    await stack
      .owner()
      .execute("update known_logins set address = '192.0.2.7' where account_hash = ?", [
        await stack.deps.sealer.digest(email),
      ]);
    const { access_token: token } = (await logIn(email)).body.data;
    await awaitMail(stack, email, /Login baru/);
    const account = { bank_code: 'BCA', account_number: '1234567890', account_holder: 'Sari' };
    expect((await stack.post('/v1/bank-accounts', account, { token })).status).toBe(201);
    const mail = await awaitMail(stack, email, /Rekening bank/);
    expect(mail.text).toContain('7890');
    expect(`${mail.text}${mail.html}`).not.toContain('1234567890');
    expect((await mailsTo(stack, email)).filter(({ subject }) => /Login baru/.test(subject))).toHaveLength(1);
  });

  it('A login from a new address causes a notice, even after accepting an invitation or a long absence', async () => {
    const superAdmin = await buildSuperAdmin(stack);
    const email = `${newId()}@example.org`;
    const invitation = { email, name: 'Budi', user_type: 'individual' };
    await stack.post('/v1/users/invitations', invitation, { token: superAdmin.token });
    const token = tokenIn(await awaitMail(stack, email, /diundang/));
    await stack.post('/v1/auth/invitations/accept', { token, password });
    const told = async () => (await mailRows(email)).filter((kind) => kind === 'new_login').length;
    await logIn(email);
    expect(await told()).toBe(0);
    const digest = await stack.deps.sealer.digest(email);
    await stack.owner().execute("update known_logins set address = '192.0.2.7' where account_hash = ?", [digest]);
    await logIn(email);
    expect(await told()).toBe(1);
    await stack.owner().execute('delete from known_logins where account_hash = ?', [digest]);
    await stack
      .owner()
      .execute("update users set created_at = created_at - interval '31 days' where email_digest = ?", [digest]);
    await logIn(email);
    await logIn(email);
    expect(await told()).toBe(2);
  });
});
