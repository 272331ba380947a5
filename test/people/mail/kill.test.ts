import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { newId } from '../../../src/shared/ids.ts';
import { give } from '../../giving/donations/build-donations.ts';
import { buildIndividual } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { eventually } from '../../support/eventually.ts';
import { mailsTo } from '../../support/mail.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';

describe('A worker killed while it sends a mail', () => {
  let stack: ProcessStack;
  beforeAll(async () => {
    stack = await startProcessStack();
  });
  afterAll(() => stack?.stop());

  it.each([
    ['before it is sent', 'deliver-mail.before', 1],
    ['before it is marked as sent', 'deliver-mail.sent', 2],
  ] as const)(
    'A mail whose worker is killed %s is still sent, and a second copy has the same Message-ID',
    async (_, failpoint, sent) => {
      stack.arm(`${failpoint}=kill`);
      const email = `${newId()}@example.org`;
      const body = { name: 'Sari', email, password: 'correct horse battery' };
      const { id } = (await stack.post('/v1/auth/signup', body)).body.data;
      await stack.worker.exited;
      expect(await mailsTo(stack, email)).toHaveLength(sent - 1);
      await stack.restart();
      // The dead worker's claim would expire only after a minute.
      await stack
        .owner()
        .execute('delete from sweep_looks where subject_id in (select id from mails where user_id = ?)', [id]);
      await eventually(
        () => stack.em().execute<{ status: string }[]>('select status from mails where user_id = ?', [id]),
        ([row]) => row?.status === 'sent',
      );
      const mails = await mailsTo(stack, email);
      expect(mails).toHaveLength(sent);
      expect(new Set(mails.map(({ id }) => id)).size).toBe(1);
    },
  );

  it('A batch of mails reaches everyone once even if the worker is killed before storing its cursor', async () => {
    const { id: causeId } = await buildActiveCause(stack);
    const donors = await Promise.all([1, 2].map(() => buildIndividual(stack, { balance: '10000' })));
    const ids = donors.map(({ id }) => id);
    for (const donor of donors) expect((await give(stack, donor, 1_000, causeId)).status).toBe(201);
    await stack.owner().execute('update users set email_confirmed_at = now() where id in (?)', [ids]);
    stack.arm('tell-many.told=kill');
    const year = westernIndonesiaDay(new Date()).slice(0, 4);
    await stack.owner().execute("insert into mail_rounds (kind, subject) values ('year_statement', ?)", [year]);
    await stack.worker.exited;
    const told = () =>
      stack
        .em()
        .execute<{ user_id: string; status: string }[]>('select user_id, status from mails where user_id in (?)', [
          ids,
        ]);
    expect(await told()).toEqual([]);
    await stack.restart();
    const sent = await eventually(told, (mails) => mails.length > 0 && mails.every(({ status }) => status === 'sent'));
    expect(sent.map(({ user_id }) => user_id).toSorted()).toEqual(ids.toSorted());
    for (const { email } of donors) expect(await mailsTo(stack, email)).toHaveLength(1);
  });
});

describe('A sign-up whose process dies between the key and the row', () => {
  let stack: ProcessStack;
  beforeAll(async () => {
    stack = await startProcessStack();
  }, 120_000);
  afterAll(() => stack?.stop());

  it('A sign-up whose process dies before storing the user leaves an unused key and a free address', async () => {
    const body = { name: 'Siti', email: `${newId()}@example.org`, password: 'correct horse battery' };
    const keysNow = () => stack.deps.keysOrm.em.fork().execute<{ id: string }[]>('select id from personal_keys');
    const usersNow = () => stack.em().execute('select id from users order by id');
    const [before, users] = [await keysNow(), await usersNow()];
    stack.arm('sign-up.before-row=kill');
    await stack.post('/v1/auth/signup', body).catch(() => undefined);
    await stack.api.exited;
    const known = new Set(before.map(({ id }) => id));
    const keys = (await keysNow()).filter(({ id }) => !known.has(id));
    expect(keys).toHaveLength(1);
    expect(await usersNow()).toEqual(users);
    await stack.restart();
    const again = await stack.post('/v1/auth/signup', body);
    expect([again.status, again.body.data.email]).toEqual([201, body.email]);
    expect(again.body.data.id).not.toBe(keys[0]?.id);
  }, 120_000);
});
