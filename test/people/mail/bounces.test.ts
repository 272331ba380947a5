import { readBounce } from '../../../src/people/mail/bounce.ts';
import { recordMail } from '../../../src/people/mail/record-mail.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual } from '../../support/build.ts';
import { eventually } from '../../support/eventually.ts';
import { itInFull } from '../../support/full.ts';
import { awaitMail, mailsTo, tokenIn } from '../../support/mail.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Builds Postfix's delivery report, shortened. */
const report = (messageId: string, { action = 'failed', status = '5.1.1' } = {}) =>
  `Return-Path: <>
From: MAILER-DAEMON@mx.example.net (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
Message-Id: <20260105091500.${newId()}@mx.example.net>
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

The mail system: <gone@example.org>: 550 5.1.1 User unknown
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net

Final-Recipient: rfc822; gone@example.org
Action: ${action}
Status: ${status}
--b
Content-Type: text/rfc822-headers

Message-ID:
 <${messageId}>
--b--
`.replaceAll('\n', '\r\n');

describe('A bounce', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ worker: true });
  });
  afterAll(async () => {
    await expectChecksEmpty(stack);
    await stack?.stop();
  });

  const handIn = async (text: string, token = stack.deps.config.MAIL_BOUNCES_TOKEN ?? '') => {
    const headers = { 'content-type': 'message/rfc822', 'x-callback-token': token };
    const answer = await fetch(`${stack.url}/v1/mail/bounces`, { method: 'POST', headers, body: text });
    return { status: answer.status, ...((await answer.json()) as { message: string }) };
  };
  const me = async (token: string) => (await stack.get('/v1/auth/me', { token })).body.data;
  const notice = (userId: string) =>
    stack.em().transactional((tx) => recordMail(tx, stack.deps.sealer, { userId, kind: 'password_changed' }));
  const statuses = async (userId: string) =>
    (
      await stack
        .em()
        .execute<{ status: string }[]>('select status from mails where user_id = ? order by created_at', [userId])
    ).map(({ status }) => status);
  const askAgain = (token: string) => stack.post('/v1/auth/email/confirmations', {}, { token });

  it('A bounce stops mail to the address and is shown to its owner, until the address is confirmed again', async () => {
    const { id, email, token } = await buildIndividual(stack);
    await stack.em().execute('update users set email_confirmed_at = now() where id = ?', [id]);
    await notice(id);
    const mail = await awaitMail(stack, email, /telah diganti/);
    expect(await handIn(report(mail.id), 'a wrong token of some length')).toMatchObject({ status: 401 });
    for (const harmless of ['Subject: I am on holiday', report(mail.id, { action: 'delayed', status: '4.4.1' })]) {
      expect(await handIn(harmless)).toEqual({ status: 200, message: 'Nothing to stop' });
    }
    expect((await me(token)).email_bounced_at).toBeNull();
    expect(await handIn(report(mail.id))).toEqual({ status: 200, message: 'E-mails to this address stopped' });
    expect(await me(token)).toMatchObject({ email_bounced_at: expect.any(String), email_confirmed_at: null });

    await notice(id);
    await eventually(
      () => statuses(id),
      (all) => all.join() === 'sent,silenced',
    );
    expect((await askAgain(token)).status).toBe(200);
    const confirmation = tokenIn(await awaitMail(stack, email, /Konfirmasi/));
    expect((await stack.post('/v1/auth/email/confirm', { token: confirmation })).status).toBe(200);
    expect(await me(token)).toMatchObject({ email_bounced_at: null, email_confirmed_at: expect.any(String) });
    expect(await askAgain(token)).toMatchObject({ status: 400, body: { message: 'email: is already confirmed' } });
    expect(await handIn(report(mail.id))).toMatchObject({ message: 'Nothing to stop' });

    await notice(id);
    await eventually(
      () => mailsTo(stack, email),
      (mails) => mails.length === 3,
    );
    const events = await stack
      .em()
      .execute<unknown[]>("select 1 from events where event = 'MAIL_BOUNCED' and resource_id = ?", [id]);
    expect(events).toHaveLength(1);
  });

  itInFull('A bounce is recorded if the server rejects the address as unknown', async () => {
    const email = `${newId()}+refused@example.org`;
    const password = 'correct horse battery';
    await stack.post('/v1/auth/signup', { name: 'Sari', email, password });
    const { access_token } = (await stack.post('/v1/auth/login', { email, password })).body.data;
    await eventually(
      () => me(access_token),
      ({ email_bounced_at }) => email_bounced_at !== null,
    );
  });

  it('A rejection unrelated to the address is not a bounce', () => {
    const id = newId();
    const read = (status: string) => readBounce(Buffer.from(report(`${id}@amanah.example`, { status })));
    for (const status of ['5.7.1', '5.2.2', '5.1.8', '5.0.0', '4.1.1'])
      expect([status, read(status)]).toEqual([status, null]);
    expect(read('5.4.4')).toMatchObject({ status: '5.4.4', mailIds: expect.arrayContaining([id]) });
  });
});
