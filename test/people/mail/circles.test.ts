import { begun, move, onDay, passTime } from '../../circles/begin-circle.ts';
import { contribute } from '../../circles/build-circle.ts';
import type { BuiltUser } from '../../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

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
