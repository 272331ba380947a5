import { recordMail } from '../../../src/people/mail/record-mail.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildPlatformAdmin } from '../../support/build.ts';
import { eventually } from '../../support/eventually.ts';
import { awaitMail, mailsTo, tokenIn } from '../../support/mail.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';

describe('Mail to people', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ worker: true });
  });
  afterAll(async () => {
    await expectChecksEmpty(stack);
    await stack?.stop();
  });

  const signUp = async (tag = '') => {
    const email = `${newId()}${tag}@example.org`;
    const { body, status } = await stack.post('/v1/auth/signup', { name: 'Ibu <Sari>', email, password });
    expect(status).toBe(201);
    return { id: body.data.id as string, email };
  };
  const mailRow = async (userId: string, kind: string) => {
    const [row] = await stack
      .em()
      .execute<Record<string, unknown>[]>('select * from mails where user_id = ? and kind = ?', [userId, kind]);
    return row;
  };

  it('New users get a mail in Indonesian to confirm their address, linking to a page with a button', async () => {
    const { id, email } = await signUp();
    const mail = await awaitMail(stack, email, /Konfirmasi/);
    expect(mail).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}@amanah\.example$/),
      from: '"Amanah" <no-reply@amanah.example>',
      to: email,
      subject: 'Konfirmasi alamat surel Anda',
      text: expect.stringMatching(/^Halo,\n/),
      html: expect.stringContaining('<p>Halo,</p>'),
      received_at: expect.any(String),
    });
    const token = tokenIn(mail);
    const page = await fetch(`${stack.url}/confirm-email?token=${token}`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<form method="post" action="/confirm-email">');
    const answer = await fetch(`${stack.url}/confirm-email`, { method: 'POST', body: new URLSearchParams({ token }) });
    expect(answer.status).toBe(200);
    const again = await stack.post('/v1/auth/email/confirm', { token });
    expect(again.status).toBe(400);
    expect(again.body.message).toBe('token: is unknown, expired or already used');
    const [user] = await stack
      .em()
      .execute<{ at: Date | null }[]>('select email_confirmed_at as at from users where id = ?', [id]);
    expect(user?.at).not.toBeNull();
    // The address is confirmed now, so mails contain the name.
    await stack.post('/v1/auth/password/forgot', { email });
    expect(await awaitMail(stack, email, /sandi/)).toMatchObject({
      text: expect.stringMatching(/^Halo Ibu <Sari>,\n/),
      html: expect.stringContaining('<p>Halo Ibu &lt;Sari&gt;,</p>'),
    });
  });

  it('Mail to an unconfirmed address contains no name of a user or an unapproved organization', async () => {
    const link = `https://${newId()}.example/x`;
    const signedUp = `${newId()}@example.org`;
    await stack.post('/v1/auth/signup', { name: `Open ${link}`, email: signedUp, password });
    const organization = await stack.post('/v1/organizations/signup', {
      ...{ name: `Bank: ${link}`, email: 'office@example.org' },
      admin: { name: 'Eve', email: `${newId()}@example.org`, password },
    });
    const { token } = await buildPlatformAdmin(stack);
    const invited = `${newId()}@example.org`;
    const { status } = await stack.post(
      '/v1/users/invitations',
      { name: `Open ${link}`, email: invited, user_type: 'organization', organization_id: organization.body.id },
      { token },
    );
    expect(status).toBe(201);
    for (const email of [signedUp, invited]) {
      expect(JSON.stringify(await awaitMail(stack, email, /Konfirmasi|diundang/))).not.toContain(link);
    }
  });

  it('An unconfirmed address gets at most ten notices an hour, besides requested password resets', async () => {
    const { id, email } = await signUp();
    const notices = 14;
    for (let number = 0; number < notices; number += 1) {
      await recordMail(stack.em(), stack.deps.sealer, { userId: id, kind: 'second_factor_off' });
    }
    await stack.post('/v1/auth/password/forgot', { email });
    await awaitMail(stack, email, /Atur kata sandi/);
    const statuses = await eventually(
      async () => {
        const find = "select status from mails where user_id = ? and kind = 'second_factor_off' order by id";
        return (await stack.em().execute<{ status: string }[]>(find, [id])).map(({ status }) => status);
      },
      (found) => !found.includes('pending'),
    );
    const told = (status: string) => statuses.filter((one) => one === status).length;
    expect([statuses.length, told('sent'), told('silenced')]).toEqual([notices, 10, 4]);
  });

  it('A mail is sent once, and its contents are deleted afterwards, except for the token’s hash', async () => {
    const { id, email } = await signUp();
    await awaitMail(stack, email, /Konfirmasi/);
    const row = await eventually(
      () => mailRow(id, 'confirm_address'),
      (row) => row?.status === 'sent',
    );
    expect(row).toMatchObject({ facts_sealed: null, attempts: 1, token_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await mailsTo(stack, email)).toHaveLength(1);
  });

  it('A rejected mail is parked with an event that omits the address, and a deferred one stays pending', async () => {
    const refused = await signUp('+refused');
    const later = await signUp('+later');
    const parked = await eventually(
      () => mailRow(refused.id, 'confirm_address'),
      (row) => row?.status === 'parked',
    );
    expect(parked).toMatchObject({ last_error: 'status 550', attempts: 1, facts_sealed: null });
    const [event] = await stack
      .em()
      .execute<{ data: object }[]>("select data from events where event = 'MAIL_PARKED' and resource_id = ?", [
        String(parked?.id),
      ]);
    expect(JSON.stringify(event?.data)).not.toContain('@');
    const waiting = await eventually(
      () => mailRow(later.id, 'confirm_address'),
      (row) => Number(row?.attempts) > 0,
    );
    expect(waiting).toMatchObject({ status: 'pending', last_error: 'status 451' });
    expect(waiting?.facts_sealed).not.toBeNull();
  });

  it('No mail is sent to a suspended user', async () => {
    const { id, email } = await signUp();
    await awaitMail(stack, email, /Konfirmasi/);
    await stack.em().transactional(async (tx) => {
      await tx.execute("update users set status = 'suspended' where id = ?", [id]);
      await recordMail(tx, stack.deps.sealer, { userId: id, kind: 'password_changed' });
    });
    await eventually(
      () => mailRow(id, 'password_changed'),
      (row) => row?.status === 'silenced',
    );
    expect(await mailsTo(stack, email)).toHaveLength(1);
  });
});
