import { LockMode } from '@mikro-orm/postgresql';
import { emptyRows } from '../../../src/control/erasure/empty-rows.ts';
import { findHold } from '../../../src/control/erasure/legal-holds.ts';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { setPassword } from '../../../src/people/identity/operate-users.ts';
import { emailDigest } from '../../../src/people/members/profile.ts';
import { User } from '../../../src/people/members/user.entity.ts';
import { asRefusal, errorCodeOf } from '../../../src/shared/errors.ts';
import { newId } from '../../../src/shared/ids.ts';
import { begun, opened } from '../../circles/begin-circle.ts';
import { buildIndividual } from '../../support/build.ts';
import { buildTransaction, upload } from '../../support/documents.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
const bank = { bank_code: 'BCA', account_number: '1234567890', account_holder: 'Siti Rahayu' };

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

/** Locks the person's row, runs an action, then deletes the person's data. */
const erase = <T>(id: string, meanwhile: () => Promise<T>): Promise<T> =>
  stack.em().transactional(async (tx) => {
    const user = await tx.findOneOrFail(User, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const result = await meanwhile();
    await emptyRows(tx, user);
    return result;
  });

describe('Requests that a person sent before the erasure', () => {
  // The server handles four of a person's changes at a time, besides uploads, so they are sent in two parts.
  it.each([0, 1])(
    'A request that waits for the erasure returns 403 and creates nothing (%i)',
    async (part) => {
      const person = await buildIndividual(stack);
      const transaction = await buildTransaction(stack, person);
      const circle = await opened(stack, await buildIndividual(stack));
      const { token, accountId } = person;
      const cause = { name: 'A well', description: 'For Sumba', target_amount: 1_000_000, regulations: 'None' };
      const requests: [path: string, body: object][] = [
        ['/v1/addresses', { province: 'Bali', city: 'Denpasar', country: 'Indonesia', street: 'Jalan Siti' }],
        ['/v1/official-documents', { kind: 'passport', number: 'A1234567', name_on_document: 'Siti Rahayu' }],
        ['/v1/bank-accounts', bank],
        ['/v1/accounts', { name: 'Pocket' }],
        ['/v1/saving-goals', { name: 'Hajj', target_amount: '35000000' }],
        ['/v1/charitable-causes', { ...cause, benefit: 'Water', account_id: accountId }],
        ['/v1/saving-circles/members', { saving_circle_id: circle }],
      ];
      const some = requests.slice(part * 4, part * 4 + 4);
      const openACircle = () =>
        opened(stack, person).then(
          () => ['circle', 201],
          (error: Error) => ['circle', errorCodeOf(asRefusal(error)) === 'FORBIDDEN' ? 403 : error.message],
        );
      const { sent } = await erase(person.id, async () => {
        const sent = [
          ...some.map(([path, body]) => stack.post(path, body, { token }).then(({ status }) => [path, status])),
          upload(stack, person, transaction).then(({ status }) => ['upload', status]),
          ...(part === 0 ? [] : [openACircle()]),
        ];
        await untilLocked(stack, { count: sent.length });
        return { sent };
      });
      expect(await Promise.all(sent)).toEqual([
        ...some.map(([path]) => [path, 403]),
        ['upload', 403],
        ...(part === 0 ? [] : [['circle', 403]]),
      ]);
      const made = await stack.em().execute<[{ count: number }]>(
        `select (select count(*) from addresses where user_id = p.id) + (select count(*) from official_documents where user_id = p.id)
         + (select count(*) from bank_accounts where user_id = p.id) + (select count(*) from documents where created_by = p.id)
         + (select count(*) - 1 from accounts where user_id = p.id) + (select count(*) from saving_goals where user_id = p.id)
         + (select count(*) from charitable_causes where created_by = p.id)
         + (select count(*) from saving_circles where created_by = p.id)
         + (select count(*) from saving_circle_members where user_id = p.id) as count from (select ?::uuid as id) p`,
        [person.id],
      );
      expect(Number(made[0].count)).toBe(0);
    },
    60_000,
  );
});

describe('A login that started before the erasure', () => {
  const signUp = async () => {
    const email = `${newId()}@example.org`;
    const { body } = await stack.post('/v1/auth/signup', { name: 'Siti Rahayu', email, password });
    const digest = await emailDigest(stack.deps.sealer, email);
    return { id: body.data.id as string, email, digest };
  };
  const traces = ({ id, digest }: { id: string; digest: string }) =>
    Promise.all([
      stack.em().execute('select address from known_logins where account_hash = ?', [digest]),
      stack.em().execute("select event from events where resource_id = ? and event like 'USER_LOG%'", [id]),
    ]);

  it('A login that waits for the erasure returns 401 and leaves no trace of the person', async () => {
    const person = await signUp();
    const answer = await erase(person.id, async () => {
      const sent = stack.post('/v1/auth/login', { email: person.email, password });
      await untilLocked(stack, { text: 'select from users where id' });
      return { sent };
    });
    expect((await answer.sent).status).toBe(401);
    expect(await traces(person)).toEqual([[], []]);
  });

  it('A failed login that waits for the erasure leaves no trace of the person', async () => {
    const person = await signUp();
    const answer = await erase(person.id, async () => {
      const sent = stack.post('/v1/auth/login', { email: person.email, password: 'a wrong one, once' });
      await untilLocked(stack, { text: 'and email_digest' });
      return { sent };
    });
    expect((await answer.sent).status).toBe(401);
    expect(await traces(person)).toEqual([[], []]);
  });

  it('A profile change that waits for the erasure returns 401, because the token is revoked', async () => {
    const { id, token } = await buildIndividual(stack);
    const answer = await erase(id, async () => {
      const sent = stack.patch('/v1/auth/me', { name: 'Siti again' }, { token });
      await untilLocked(stack, { text: 'from "users"' });
      return { sent };
    });
    expect((await answer.sent).status).toBe(401);
  });

  it('Setting a password from the command line fails if it waits for the erasure', async () => {
    const { id, email } = await signUp();
    const answer = await erase(id, async () => {
      const setting = setPassword(stack.em(), stack.deps.sealer, { email, password: 'another good horse' });
      const sent = setting.catch((error: unknown) => error);
      await untilLocked(stack, { text: 'from "users"' });
      return { sent };
    });
    expect(await answer.sent).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('Login records of an erased person', () => {
  it('An erasure deletes the addresses from which the person logged in', async () => {
    const email = `${newId()}@example.org`;
    const { body } = await stack.post('/v1/auth/signup', { name: 'Siti Rahayu', email, password });
    const { id } = body.data;
    await stack.post('/v1/auth/login', { email, password });
    await stack.post('/v1/auth/login', { email, password: 'a wrong one, once' });
    const logins = async () =>
      Number(
        (
          await stack.em().execute<[{ count: string }]>(
            `select (select count(*) from known_logins where account_hash = p.digest)
               + (select count(*) from login_failures where account_hash = p.digest) as count from (select ? as digest) p`,
            [digest],
          )
        )[0].count,
      );
    const [{ email_digest: digest }] = await stack
      .em()
      .execute<[{ email_digest: string }]>('select email_digest from users where id = ?', [id]);
    expect(await logins()).toBe(2);
    await erase(id, async () => undefined);
    expect(await logins()).toBe(0);
  }, 60_000);
});

describe('Idempotency keys of an erased person’s payments', () => {
  it('Idempotency keys of an erased person’s payments stay without responses and violate no check', async () => {
    const person = await buildIndividual(stack, { balance: '10000' });
    const gift = {
      reference_type: 'charitable_cause_open_donate',
      reference_id: systemAccounts.openDonationPool,
      source_account_id: person.accountId,
      amount: 10_000,
    };
    const headers = { 'idempotency-key': newId() };
    expect((await stack.post('/v1/payments/balance', gift, { token: person.token, headers })).status).toBe(201);
    await stack
      .owner()
      .execute("update requests set decided_at = now() - interval '2 hours' where owner_id = ?", [person.id]);
    await erase(person.id, async () => undefined);
    const kept = 'select answer_body from requests where owner_id = ?';
    expect(await stack.em().execute(kept, [person.id])).toEqual([{ answer_body: null }]);
    await expectChecksEmpty(stack);
  });
});

describe('A person who agreed to take over a place in a circle', () => {
  it('A person who agreed to take over a place in a saving circle cannot be erased', async () => {
    const { id, members, memberIds } = await begun(stack, 2, { on_default: 'winner_first' });
    const heir = await buildIndividual(stack);
    const path = `/v1/saving-circles/${id}/members/${memberIds[1]}/replacements`;
    const proposed = await stack.post(path, { account_id: heir.accountId }, { token: members[0]?.token ?? '' });
    expect(proposed.status).toBe(201);
    expect(await findHold(stack.em(), heir.id)).toBeNull();
    const accept = `/v1/saving-circles/${id}/replacements/${proposed.body.data.id}/accept`;
    expect((await stack.post(accept, { consent: true }, { token: heir.token })).body.data.status).toBe('pending');
    expect(await findHold(stack.em(), heir.id)).toBe('they have agreed to take over a place in a saving circle');
  }, 60_000);
});
