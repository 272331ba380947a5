import fc from 'fast-check';
import { findProgress } from '../../src/circles/find-progress.ts';
import { must } from '../../src/shared/assert.ts';
import { addMoney, formatMoney, subtractMoney } from '../../src/shared/money.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../support/time-skipping.ts';
import { buildConsentedCircle, contribute, dayFromToday, heldBy, memberIdsOf, readCircle } from './build-circle.ts';
import { expectSound, newCircle } from './circle-model.ts';
import { type Action, type Story, stories } from './circle-stories.ts';
import {
  cancelRunning,
  mayContribute,
  open,
  passTime,
  pay,
  type Running,
  type RunningMember,
  replace,
} from './running-circle.ts';

const numRuns = isFullRun() ? 25 : 5;
const amount = 10_000;
const rich = '1000000';
/** A balance for a contribution or two. */
const poor = '25000';
const bca = 1;
const hourMs = 60 * 60 * 1000;

let stack: TimeSkippingStack;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startTimeSkippingStack();
  platform = await buildPlatformAdmin(stack);
}, 120_000);
afterAll(() => stack.stop());

/** A circle of the model, and the same one in the product. */
interface Pair {
  id: string;
  model: Running;
  /** Keyed by the model's accounts. */
  users: Map<string, BuiltUser>;
}

const userOf = ({ users }: Pair, account: string): BuiltUser => users.get(account) as BuiltUser;

async function found({ size, percent, rule, graceDays, poor: haveLittle }: Story): Promise<Pair> {
  const circle = newCircle({ size, amount, percent });
  const users = new Map<string, BuiltUser>();
  const balances = new Map<string, string>();
  for (const [index, { account_id }] of circle.members.entries()) {
    const balance = (haveLittle >> index) & 1 ? poor : rich;
    users.set(account_id, await buildIndividual(stack, { balance }));
    balances.set(account_id, formatMoney(balance));
  }
  const { id } = await buildConsentedCircle(stack, [...users.values()], {
    amount: String(amount),
    // Far in the future, because time is skipped; the circle is started once all have joined.
    start_date: dayFromToday(30_000),
    terms: { on_default: rule, grace_days: graceDays, guarantee_percent: percent },
  });
  const memberIds = await memberIdsOf(stack, id, [...users.values()]);
  const members = circle.members.map(
    (member, index): RunningMember => ({
      ...member,
      member_id: must(memberIds[index], 'everybody has a place'),
      orderedBy: null,
      hasStandingOrder: false,
    }),
  );
  const model: Running = {
    ...circle,
    members,
    rule,
    isOpen: true,
    isDefaulted: false,
    isLate: false,
    balances,
    refundTo: new Map(),
  };
  return { id, model, users };
}

/** Returns the state that must be equal in the model and the product. */
const stateOfModel = (model: Running) => ({
  status: model.status,
  turn: model.status === 'active' ? model.turn : null,
  isOpen: model.status === 'active' && model.isOpen,
  isDefaulted: model.status === 'active' && model.isOpen && model.isDefaulted,
  held: model.held,
  members: Object.fromEntries(
    model.members.map(({ member_id, turn, excluded, paid, guarantee, received, orderedBy }) => [
      member_id,
      {
        turn,
        excluded,
        net: subtractMoney(addMoney(paid, guarantee), received),
        ordered: model.status === 'active' && orderedBy !== null,
      },
    ]),
  ),
  balances: Object.fromEntries([...model.balances].toSorted()),
});

async function stateOfProduct({ id, users }: Pair): Promise<ReturnType<typeof stateOfModel>> {
  const { status, current_turn, members, round } = await readCircle(stack, platform, id);
  const { body } = await stack.get(`/v1/saving-circles/${id}/settlement`, { token: platform.token });
  const nets = new Map<string, string>(
    body.data.members.map((member: { member_id: string; net_position: string }) => [
      member.member_id,
      member.net_position,
    ]),
  );
  const ordered = await stack
    .em()
    .execute<{ member_id: string }[]>(
      `select member_id from saving_circle_contributions where saving_circle_id = ? and status = 'pending'`,
      [id],
    );
  const progress = await findProgress(stack.em(), id);
  const balances = await Promise.all(
    [...users].map(async ([account, { accountId }]) => [account, await balanceOf(stack, accountId)] as const),
  );
  return {
    status,
    turn: status === 'active' ? current_turn : null,
    isOpen: round !== null,
    isDefaulted: progress.phase === 'collecting' && progress.round.facts.isDefaulted,
    held: await heldBy(stack, id),
    members: Object.fromEntries(
      members.map((member: { id: string; turn_number: number | null; excluded_turn: number | null }) => [
        member.id,
        {
          turn: member.turn_number,
          excluded: member.excluded_turn !== null,
          net: nets.get(member.id) ?? '',
          ordered: ordered.some(({ member_id }) => member_id === member.id),
        },
      ]),
    ),
    balances: Object.fromEntries(balances.toSorted()),
  };
}

/** Waits until the product has the state of the model, and checks both. */
async function agree(pair: Pair): Promise<void> {
  expectSound(pair.model);
  const expected = stateOfModel(pair.model);
  const wanted = JSON.stringify(sorted(expected));
  const found = await eventually(
    () => stateOfProduct(pair),
    (state) => JSON.stringify(sorted(state)) === wanted,
    20_000,
  ).catch(() => stateOfProduct(pair));
  expect(found).toEqual(expected);
  const total = addMoney(...Object.values(found.members).map(({ net }) => net));
  expect(total).toBe(found.held);
}
const sorted = <T extends { members: object }>(state: T) => ({
  ...state,
  members: Object.entries(state.members).toSorted(([one], [other]) => (one < other ? -1 : 1)),
});

async function act(pair: Pair, { does, who, whom }: Action): Promise<void> {
  const { id, model } = pair;
  const member = model.members[who % model.members.length] as RunningMember;
  const account = member.account_id;
  const user = userOf(pair, account);
  const refusedOrMade = (isMade: boolean, status: number) =>
    expect({ does, isMade, status }).toMatchObject(isMade ? { status: 201 } : { isMade: status === 201 });
  switch (does) {
    case 'pay':
    case 'pay for': {
      const other = does === 'pay' ? member : (model.members[whom % model.members.length] as RunningMember);
      const isMade = mayContribute(model, other, { account, onTrust: false });
      const fields = { contribution_amount: String(amount), on_behalf_of: other.member_id };
      refusedOrMade(isMade, (await contribute(stack, user, id, fields)).status);
      if (isMade) pay(model, other, { account, fromOutside: false });
      return;
    }
    case 'order':
    case 'pay by order': {
      const isMade = mayContribute(model, member, { account, onTrust: true });
      const fields = { contribution_amount: String(amount), payment_id: bca };
      const { status, body } = await contribute(stack, user, id, fields);
      refusedOrMade(isMade, status);
      if (!isMade) return;
      if (does === 'order') member.orderedBy = account;
      else {
        await stack.sandbox.post('/sandbox/pay', { payment_code: body.payment.payment_code });
        pay(model, member, { account, fromOutside: true });
      }
      return;
    }
    case 'stand': {
      const path = `/v1/saving-circles/${id}/members/${member.member_id}/standing-order`;
      const { status } = await stack.put(path, { source_account_id: user.accountId }, { token: user.token });
      expect(status).toBe(member.excluded ? 400 : 200);
      if (!member.excluded) member.hasStandingOrder = true;
      return;
    }
    case 'replace': {
      if (member.excluded) return;
      const heir = await buildIndividual(stack, { balance: rich });
      const proposed = await stack.post(
        `/v1/saving-circles/${id}/members/${member.member_id}/replacements`,
        { account_id: heir.accountId },
        { token: user.token },
      );
      expect(proposed.status).toBe(201);
      const path = `/v1/saving-circles/${id}/replacements/${proposed.body.data.id}/accept`;
      expect((await stack.post(path, { consent: true }, { token: heir.token })).status).toBe(200);
      const name = `heir ${model.balances.size}`;
      pair.users.set(name, heir);
      model.balances.set(name, formatMoney(rich));
      replace(member, name);
    }
  }
}

async function sleepUntil(instant: number): Promise<void> {
  const left = instant - (await stack.time.currentTimeMs());
  if (left > 0) await stack.time.sleep(left);
}

async function cancelNow(pair: Pair): Promise<void> {
  const { status } = await stack.post(`/v1/saving-circles/${pair.id}/cancel`, undefined, { token: platform.token });
  expect(status).toBe(200);
  cancelRunning(pair.model);
  await agree(pair);
}

/** Runs a circle to its end, in the model and in the product. */
async function live(story: Story): Promise<void> {
  const pair = await found(story);
  const { id, model } = pair;
  await agree(pair);
  for (const { actions: done, cancels } of story.rounds) {
    for (const action of done) {
      if (model.status !== 'active' || !model.isOpen) break;
      await act(pair, action);
      await agree(pair);
    }
    if (model.status === 'active' && cancels === 0) await cancelNow(pair);
    if (model.status !== 'active') break;
    if (model.isOpen) await untilDefault(pair, story);
    if (model.status !== 'active') break;
    if (!model.isOpen) {
      const { next_round_opens_at } = await readCircle(stack, platform, id);
      await sleepUntil(Date.parse(next_round_opens_at) + 1000);
      open(model);
      await agree(pair);
    }
  }
  // An operator cancels a circle that still waits, so that every circle becomes final.
  if (model.status === 'active') await cancelNow(pair);
  const twice = await stack
    .em()
    .execute(
      'select 1 from saving_circle_rounds where saving_circle_id = ? and paid_at is not null group by receiver_member_id having count(*) > 1',
      [id],
    );
  expect(twice).toEqual([]);
  await expectChecksEmpty(stack);
}

/**
 * Ends the interval and grace period of the open round; the others then try to pay, and a round that still waits is
 * cancelled.
 */
async function untilDefault(pair: Pair, { graceDays }: Story): Promise<void> {
  const { id, model } = pair;
  const { turn } = model;
  const { round } = await readCircle(stack, platform, id);
  await sleepUntil(Date.parse(round.due_at) + graceDays * 24 * hourMs + hourMs);
  passTime(model);
  await agree(pair);
  for (const [who, member] of model.members.entries()) {
    if (model.status !== 'active' || model.turn !== turn) return;
    if (!member.hasPaid && !member.excluded) {
      await act(pair, { does: 'pay', who, whom: who });
      await agree(pair);
    }
  }
  if (model.status === 'active' && model.turn === turn) await cancelNow(pair);
}

describe('A real circle', () => {
  it(`A circle behaves like the model, whatever its terms and members (${numRuns} circles)`, async () => {
    await fc.assert(fc.asyncProperty(stories, live), { numRuns, endOnFailure: true, verbose: 1 });
  }, 3_600_000);
});
