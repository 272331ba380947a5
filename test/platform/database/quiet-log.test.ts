import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual } from '../../support/build.ts';
import { testRun } from '../../support/run.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
const accountNumber = '8820411397';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true });
});
afterAll(() => stack?.stop());

const log = () => readFileSync(join(testRun().directory, 'logs', 'postgres.log'), 'utf8');

it("PostgreSQL's log contains no secret, whatever fails", async () => {
  const before = log().length;
  const sinceThen = () => log().slice(before);
  const email = `${newId()}@example.org`;
  const signUp = () => stack.post('/v1/auth/signup', { name: 'Sari', email, password });
  const made = await Promise.all([signUp(), signUp(), signUp(), signUp()]);
  expect((await signUp()).status).toBe(400);
  const id = made.find(({ status }) => status === 201)?.body.data.id;
  const { access_token, refresh_token } = (await stack.post('/v1/auth/login', { email, password })).body.data;

  // The statements that write the new password and the bank account time out waiting for locks.
  const changed = 'another correct horse';
  const { token } = await buildIndividual(stack);
  await stack.owner().transactional(async (tx) => {
    await tx.execute('lock table users, bank_accounts in share row exclusive mode');
    const late = await Promise.all([
      stack.put('/v1/auth/password', { current_password: password, new_password: changed }, { token: access_token }),
      stack.post(
        '/v1/bank-accounts',
        { bank_code: 'BCA', account_number: accountNumber, account_holder: 'Sari' },
        { token },
      ),
      stack.post('/v1/auth/signup', { name: 'Sari', email: `other.${email}`, password }),
    ]);
    expect(late.map(({ status }) => status)).toEqual(late.map(() => 503));
  });
  // Violates constraints that refuse whole rows, and makes a deadlock, for which the server logs both statements.
  const secret = 'a secret within a statement';
  const em = stack.em();
  for (const [statement, ...values] of [
    ["insert into users (id, user_type, status, password_sealed) values (?, 'nobody', 'active', ?)", newId(), secret],
    [
      "insert into mails (id, user_id, kind, status, facts_sealed) values (?, ?, 'invitation', 'sent', ?)",
      newId(),
      newId(),
      secret,
    ],
    ['insert into bank_accounts (id, details_sealed) values (?, ?)', newId(), secret],
  ] as const) {
    await expect(em.execute(statement, values)).rejects.toThrow();
  }
  const users = [await buildIndividual(stack), await buildIndividual(stack)].map((user) => user.id) as [string, string];
  const lockBoth = (ids: readonly string[]) =>
    stack.em().transactional(async (tx) => {
      for (const each of ids) {
        await tx.execute(`update users set locale = 'en' where id = ? and '${secret}' <> ''`, [each]);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    });
  await Promise.allSettled([lockBoth(users), lockBoth(users.toReversed())]);

  await eventually(
    () => Promise.resolve(sinceThen()),
    (text) =>
      ['lock timeout', 'violates check constraint', 'violates not-null constraint', 'deadlock detected'].every(
        (failure) => text.includes(failure),
      ),
  );
  const rows = await stack.owner().execute<{ secret: string | null }[]>(
    `select password_sealed as secret from users where id = ?
     union all select token_hash from mails where user_id = ? union all select facts_sealed from mails where user_id = ?
     union all select token_hash from refresh_tokens where user_id = ?`,
    [id, id, id, id],
  );
  const secrets = [password, changed, access_token, refresh_token, accountNumber, secret, email, '$argon2'];
  const found = [...secrets, ...rows.map((row) => row.secret)].filter((each) => each && sinceThen().includes(each));
  expect(found).toEqual([]);
});
