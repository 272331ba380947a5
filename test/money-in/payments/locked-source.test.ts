import { hashKey } from '../../../src/platform/openings/idempotency-keys.ts';
import { newId } from '../../../src/shared/ids.ts';
import { textArray } from '../../../src/shared/postgres.ts';
import { begun } from '../../circles/begin-circle.ts';
import { contribute } from '../../circles/build-circle.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { readLockWaits, untilLocked } from '../../support/lock-waits.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** More payments wait for one lock than the process has database connections. */
let stack: Stack;
let other: BuiltUser;
const crowd = 20;
beforeAll(async () => {
  stack = await startStack();
  other = await buildIndividual(stack, { balance: '1000' });
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const give = ({ token, accountId }: BuiltUser, causeId: string, key?: string) =>
  stack.post(
    '/v1/payments/balance',
    { reference_type: 'charitable_cause_donate', reference_id: causeId, source_account_id: accountId, amount: 10 },
    { token, headers: key === undefined ? {} : { 'idempotency-key': key } },
  );

/**
 * Sends the crowd while a lock is held; once its connections wait, checks that others are served. Returns the crowd's
 * statuses.
 */
async function crowded(
  sends: (() => Promise<{ status: number }>)[],
  { lock, text, most }: { lock: string; text: string; most: number },
) {
  const cause = await buildActiveCause(stack);
  const sent = await stack.owner().transactional(async (tx) => {
    await tx.execute(lock);
    const sending = sends.map((send) => send());
    await untilLocked(stack, { text, count: most });
    expect((await stack.get('/v1/auth/me', { token: other.token })).status).toBe(200);
    expect((await give(other, cause.id)).status).toBe(201);
    expect(await readLockWaits(stack, text)).toHaveLength(most);
    return sending;
  });
  const answers = await Promise.all(sent);
  return answers.map(({ status }) => status);
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('Payments that wait for a lock leave connections to others', () => {
  it('Payments waiting for one locked source account leave connections to others', async () => {
    const cause = await buildActiveCause(stack);
    const payer = await buildIndividual(stack, { balance: '1000' });
    const lock = `select from account_balances where account_id = '${payer.accountId}' and shard = 0 for update`;
    const gifts = times(crowd, () => give(payer, cause.id));
    expect(await crowded(gifts, { lock, text: 'lock_source', most: 3 })).toEqual(times(crowd, 201));
    expect(await balanceOf(stack, payer.accountId)).toBe(`${1000 - 10 * crowd}.0000`);
    expect(await balanceOf(stack, cause.accountId)).toBe(`${10 * crowd}.0000`);
  });

  it('Payments waiting for one locked circle leave connections to others', async () => {
    const { id, members } = await begun(stack, 10, {});
    const lock = `select from saving_circles where id = '${id}' for update`;
    const contributions = members.map((member) => () => contribute(stack, member, id));
    expect(await crowded(contributions, { lock, text: 'saving_circles', most: 3 })).toEqual(times(members.length, 201));
  });

  it('Payments that each wait for a different lock leave connections to others', async () => {
    const cause = await buildActiveCause(stack);
    const payers = await Promise.all(times(6, null).map(() => buildIndividual(stack, { balance: '1000' })));
    const sent = await stack.owner().transactional(async (tx) => {
      for (const { id } of payers) {
        const columns = '(owner_id, key_hash, fingerprint, resource_id)';
        await tx.execute(`insert into requests ${columns} values (?, ?, '', ?)`, [id, hashKey(id), newId()]);
      }
      const sending = payers.map((payer) => give(payer, cause.id, payer.id));
      await untilLocked(stack, { text: 'pay_from_balance' });
      for (const _ of times(10, null)) expect((await give(other, cause.id)).status).toBe(201);
      await eventually(
        () => readLockWaits(stack, 'pay_from_balance'),
        ({ length }) => length === 4,
      );
      await tx.execute('delete from requests where owner_id = any (?::uuid[])', [
        textArray(payers.map(({ id }) => id)),
      ]);
      return sending;
    });
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status)).toEqual(times(payers.length, 201));
  });
});
