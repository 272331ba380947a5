import { deliverMail } from '../../../src/people/mail/deliver-mail.ts';
import { tell } from '../../../src/people/mail/tell.ts';
import { begun, move, onDay, opened, passTime } from '../../circles/begin-circle.ts';
import { contribute } from '../../circles/build-circle.ts';
import { give } from '../../giving/donations/build-donations.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const bankAccount = { bank_code: 'BCA', account_number: '1234567890', account_holder: 'Sari' };

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

it('Circle members get one mail per paid, due, overdue and defaulted contribution, and per pot', async () => {
  const { id, members } = await begun(stack, 2, { on_default: 'cover', guarantee_percent: 100 });
  const [first, second] = members as [BuiltUser, BuiltUser];
  await stack.em().execute('update users set email_confirmed_at = now() where id in (?, ?)', [first.id, second.id]);
  await contribute(stack, first, id);
  await contribute(stack, second, id);
  await move(stack, id, onDay(0));
  const kindsOf = async (user: BuiltUser) =>
    (
      await stack
        .em()
        .execute<{ kind: string }[]>('select kind from mails where user_id = ? order by created_at, id', [user.id])
    ).map(({ kind }) => kind);
  expect(await kindsOf(first)).toEqual(['contribution', 'circle_pot']);
  expect(await kindsOf(second)).toEqual(['contribution']);
  await move(stack, id, onDay(1));
  await contribute(stack, first, id);
  await passTime(stack, id, onDay(40));
  expect(await kindsOf(first)).toEqual(['contribution', 'circle_pot', 'contribution']);
  expect(await kindsOf(second)).toEqual([
    'contribution',
    'circle_due',
    'circle_overdue',
    'circle_default',
    'circle_pot',
  ]);
});

/** Sends a person's pending mails, as after an outage of the mail server; returns their kinds and statuses. */
async function send({ id }: BuiltUser): Promise<string[]> {
  const tools = {
    sealer: stack.deps.sealer,
    sender: { send: async () => undefined, close: () => undefined },
    publicUrl: 'http://localhost',
  };
  const mails = await stack
    .em()
    .execute<{ id: string; kind: string }[]>(
      "select id, kind from mails where user_id = ? and status = 'pending' order by created_at, id",
      [id],
    );
  const sent: string[] = [];
  for (const mail of mails) sent.push(`${mail.kind} ${await deliverMail(stack.em(), tools, mail.id)}`);
  return sent;
}

const confirm = ({ id }: BuiltUser) =>
  stack.em().execute('update users set email_confirmed_at = now() where id = ?', [id]);

it('Mail that is sent late omits reminders of paid contributions and cancelled circles, and receipts of refunded contributions', async () => {
  const { id, members } = await begun(stack, 3, {});
  const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
  for (const member of members) await confirm(member);
  await passTime(stack, id, onDay(2));
  await contribute(stack, first, id);
  expect(await send(first)).toEqual([
    'circle_due silenced',
    'circle_overdue silenced',
    'circle_default sent',
    'contribution sent',
  ]);
  expect(await send(second)).toEqual(['circle_due sent', 'circle_overdue sent', 'circle_default sent']);
  await contribute(stack, second, id);
  const { token } = await buildPlatformAdmin(stack);
  expect((await stack.post(`/v1/saving-circles/${id}/cancel`, {}, { token })).status).toBe(200);
  expect(await send(second)).toEqual(['contribution silenced']);
  expect(await send(third)).toEqual(['circle_due silenced', 'circle_overdue silenced', 'circle_default sent']);
});

it('No receipt is sent late for a donation that was refunded', async () => {
  const { id: causeId } = await buildActiveCause(stack);
  const donor = await buildIndividual(stack, { balance: '100000' });
  await confirm(donor);
  await give(stack, donor, 1000, causeId);
  await give(stack, donor, 2000, causeId);
  const [{ id }] = await stack
    .em()
    .execute<[{ id: string }]>('select id from donations where user_id = ? and amount = 1000', [donor.id]);
  expect((await stack.post(`/v1/donations/${id}/refund`, undefined, { token: donor.token })).status).toBe(200);
  expect(await send(donor)).toEqual(['donation silenced', 'donation sent']);
});

it('A person gets at most ten reminders an hour, however many circles others add them to', async () => {
  const [creator, member] = [await buildIndividual(stack), await buildIndividual(stack)];
  await stack.em().execute('update users set email_confirmed_at = now() where id = ?', [member.id]);
  for (let circle = 0; circle < 12; circle += 1) {
    const resourceId = await opened(stack, creator);
    const told = { kind: 'circle_invitation', resourceId, turnNumber: null, userIds: [member.id] } as const;
    await stack.em().transactional((tx) => tell(tx, told));
  }
  const { body } = await stack.post('/v1/bank-accounts', bankAccount, { token: member.token });
  expect(body.message).toBe('Bank account added');
  expect(await send(member)).toEqual([
    ...Array.from({ length: 10 }, () => 'circle_invitation sent'),
    ...Array.from({ length: 2 }, () => 'circle_invitation silenced'),
    'bank_account_added sent',
  ]);
});
