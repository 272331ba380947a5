import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../src/shared/digest.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual } from '../../support/build.ts';
import { type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true });
});
afterAll(() => stack?.stop());

describe('A thief of the application’s database role', () => {
  it('A password hash copied between users by the application’s database role authenticates no one', async () => {
    const [thief, victim] = [`${newId()}@example.org`, `${newId()}@example.org`];
    const signUp = async (email: string, secret: string) =>
      (await stack.post('/v1/auth/signup', { name: 'A', email, password: secret })).body.data.id as string;
    const mine = await signUp(thief, `${password} of a thief`);
    const theirs = await signUp(victim, `${password} of a victim`);
    const copied = 'update users set password_sealed = (select password_sealed from users where id = ?) where id = ?';
    await stack.em().execute(copied, [mine, theirs]);
    const { status, body } = await stack.post('/v1/auth/login', { email: victim, password: `${password} of a thief` });
    expect([status, body.data]).toEqual([500, undefined]);
  });

  it('A token inserted by the application’s database role authenticates no one', async () => {
    const { id } = await buildIndividual(stack);
    const em = stack.em();
    const invited = newId();
    await em.execute(
      `insert into users (id, profile_sealed, email_digest, user_type, status) select ?, profile_sealed, ?, user_type, 'invited'
       from users where id = ?`,
      [invited, newId(), id],
    );
    const token = randomBytes(32).toString('base64url') + 'a'.repeat(40);
    const hash = sha256(token);
    const later = "now() + interval '1 hour'";
    await em.execute(
      `insert into refresh_tokens (token_hash, family_id, user_id, token_generation, access_token_id, access_expires_at, expires_at)
       values (?, ?, ?, 0, ?, ${later}, ${later})`,
      [hash, newId(), id, newId()],
    );
    for (const kind of ['reset_password', 'confirm_address']) {
      await em.execute(
        `insert into mails (id, user_id, kind, facts_sealed, token_hash, token_expires_at) values (?, ?, ?, 'x', ?, ${later})`,
        [newId(), id, kind, kind === 'reset_password' ? hash : sha256(`${token}b`)],
      );
    }
    await em.execute(
      `insert into invitations (id, user_id, token_hash, expires_at, created_by) values (?, ?, ?, ${later}, ?)`,
      [newId(), invited, hash, id],
    );
    const answers = await Promise.all([
      stack.post('/v1/auth/refresh', { refresh_token: token }),
      stack.post('/v1/auth/password/reset', { token, password }),
      stack.post('/v1/auth/email/confirm', { token: `${token}b` }),
      stack.post('/v1/auth/invitations/accept', { token, password }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 400, 400, 400]);
  });
});
