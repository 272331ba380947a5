import { buildSuperAdmin } from '../../support/build.ts';
import { secureSession } from '../../support/decide.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { buildWaitingDisbursement, type WaitingDisbursement, withdrawalWhen } from './build-withdrawals.ts';

let stack: Stack;
/** Tokens of two platform users who may approve. */
let approvers: [string, string];
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  const session = async () => secureSession(stack, (await buildSuperAdmin(stack)).id);
  approvers = [await session(), await session()];
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const decide = ({ decisionId }: WaitingDisbursement, what: 'approve' | 'reject', token: string) =>
  stack.post(`/v1/decisions/${decisionId}/${what}`, undefined, { token });
const timelineOf = async ({ id, owner }: WaitingDisbursement) =>
  (await stack.get(`/v1/withdrawals/${id}/timeline`, { token: owner.token })).body.data as {
    items: { at: string; type: string; text: string }[];
    next: { at: string; text: string } | null;
  };
const decisionOf = async (it: WaitingDisbursement) =>
  (await timelineOf(it)).items.filter(({ type }) => type === 'decision').map(({ text }) => text);
const age = ({ decisionId }: WaitingDisbursement, days: number) =>
  withoutTriggers(stack, 'update decisions set created_at = created_at - make_interval(days => ?) where id = ?', [
    days,
    decisionId,
  ]);
const asked = 'Two of our operators must approve it before it is sent.';

it('The timeline of a disbursement waiting for approval shows its cause and when the decision is due', async () => {
  const it = await buildWaitingDisbursement(stack);
  const { items, next } = await timelineOf(it);
  expect(items[0]?.text).toMatch(
    /^A disbursement of IDR 400000\.0000 from the charitable cause "Well" to BRI was requested \(WD-/,
  );
  const [row] = await stack
    .em()
    .execute<[{ at: string }]>("select created_at + interval '7 days' as at from decisions where id = ?", [
      it.decisionId,
    ]);
  expect(next).toEqual({
    at: new Date(row.at).toISOString(),
    text: 'It fails unless two of our operators approve it by then. The money stays reserved.',
  });
});

it('The timeline of a disbursement approved six days later shows both approvals and the outcome', async () => {
  const it = await buildWaitingDisbursement(stack);
  await age(it, 6);
  await decide(it, 'approve', approvers[0]);
  expect(await decisionOf(it)).toEqual([asked, 'The first of two operators approved it.']);
  await decide(it, 'approve', approvers[1]);
  await withdrawalWhen(stack, it.owner, it.id, 'succeeded');
  expect((await decisionOf(it)).at(-1)).toBe('A second operator approved it.');
  const { items, next } = await timelineOf(it);
  expect(items.at(-1)?.text).toBe('The disbursement succeeded.');
  expect(next).toBeNull();
});

it('The timeline of a disbursement shows that it was rejected or that its decision lapsed', async () => {
  const rejected = await buildWaitingDisbursement(stack);
  await decide(rejected, 'reject', approvers[0]);
  await withdrawalWhen(stack, rejected.owner, rejected.id, 'failed');
  expect(await decisionOf(rejected)).toEqual([asked, 'One of our operators rejected it.']);
  const { items } = await timelineOf(rejected);
  expect(items.filter(({ type }) => type === 'provider').map(({ text }) => text)).toEqual([
    'The provider has no such transfer: nothing was sent.',
  ]);
  const lapsed = await buildWaitingDisbursement(stack);
  await age(lapsed, 8);
  await decide(lapsed, 'approve', approvers[0]);
  await withdrawalWhen(stack, lapsed.owner, lapsed.id, 'failed');
  expect(await decisionOf(lapsed)).toEqual([asked, 'It can no longer be approved: it is older than 168 hours.']);
  expect((await timelineOf(lapsed)).items.at(-1)?.text).toBe('The disbursement failed: DECISION_LAPSED.');
});
