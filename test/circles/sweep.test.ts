import { overdueCircles, sweepCircles } from '../../src/circles/sweep-circles.ts';
import type { CircleTerms } from '../../src/circles/terms.ts';
import { type BuiltUser, buildSuperAdmin } from '../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { begun as begunAt, move } from './begin-circle.ts';
import { contribute } from './build-circle.ts';

let stack: Stack;
/** Temporal is down, so that no workflow gets a signal and only the sweep finds due circles. */
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const longAgo = new Date('2026-01-01T00:00:00+07:00').toISOString();
const begun = (size: number, terms: Partial<CircleTerms>) => begunAt(stack, size, terms, [], longAgo);

/** Returns whether the next sweep wakes this circle, regardless of earlier sweeps. */
async function isWoken(circleId: string): Promise<boolean> {
  await stack.owner().execute('delete from sweep_looks');
  const woken: string[] = [];
  const workflows = {
    lookAfterSavingCircle: async (id: string) => void woken.push(id),
    hintGatewayPayment: async () => undefined,
  };
  await sweepCircles(stack.em(), workflows, (_, __, error) => {
    throw error;
  });
  return woken.includes(circleId);
}
const update = (what: string, circleId: string, params: unknown[] = []) =>
  stack
    .owner()
    .execute(`update saving_circle_rounds set ${what} where saving_circle_id = ? and paid_at is null`, [
      ...params,
      circleId,
    ]);
const endIn = (interval: string, circleId: string) =>
  update("due_at = date_trunc('milliseconds', now()) + ?::interval", circleId, [interval]);
/** Makes contributions so old that the workflow should have been signalled. */
const waitForSignals = (circleId: string) =>
  stack
    .owner()
    .execute(
      "update saving_circle_contributions set updated_at = now() - interval '2 minutes' where saving_circle_id = ?",
      [circleId],
    );
/**
 * Returns how long before the round's end sweeps look at it again, and how many contributions they have not checked.
 */
async function looks(circleId: string): Promise<{ before: string | null; contributions: number }> {
  const [row] = await stack.em().execute<[{ before: string | null; contributions: number }]>(
    `select (due_at - look_at)::text as before,
       (select count(*)::int from saving_circle_contributions c where c.saving_circle_id = r.saving_circle_id
         and c.status = 'completed' and c.swept_at is null) as contributions
     from saving_circle_rounds r where saving_circle_id = ? and paid_at is null`,
    [circleId],
  );
  return row;
}

describe('The sweep of circles', () => {
  it('The sweep skips a round with nothing due, unless the last contribution’s signal was lost', async () => {
    const { id, members } = await begun(3, {});
    await endIn('20 days', id);
    expect(await isWoken(id)).toBe(false);
    expect(await looks(id)).toEqual({ before: '1 day', contributions: 0 });
    for (const member of members.slice(0, 2)) {
      expect((await contribute(stack, member, id)).status).toBe(201);
      expect((await looks(id)).contributions).toBe(1);
      await waitForSignals(id);
      expect(await isWoken(id)).toBe(false);
      expect((await looks(id)).contributions).toBe(0);
    }
    expect((await contribute(stack, members[2] as BuiltUser, id)).status).toBe(201);
    expect(await isWoken(id)).toBe(false);
    await waitForSignals(id);
    expect(await isWoken(id)).toBe(true);
    expect(await isWoken(id)).toBe(true);
    await move(stack, id, longAgo);
    await stack
      .owner()
      .execute("update saving_circles set next_opens_at = now() + interval '1 hour' where id = ?", [id]);
    expect(await isWoken(id)).toBe(false);
  });

  it('The sweep finds each action of a round when it becomes due, and nothing in between', async () => {
    const { id, members } = await begun(2, { grace_days: 2, on_default: 'winner_first' });
    for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
    for (const days of [0, 1]) await move(stack, id, new Date(Date.parse(longAgo) + days * 86_400_000).toISOString());
    await endIn('25 hours', id);
    expect(await isWoken(id)).toBe(false);
    await endIn('23 hours', id);
    expect(await isWoken(id)).toBe(true);
    await update('reminded_at = now()', id);
    expect(await isWoken(id)).toBe(false);
    expect((await looks(id)).before).toBe('00:00:00');
    await endIn('-2 minutes', id);
    expect(await isWoken(id)).toBe(true);
    await update('overdue_reported_at = now()', id);
    expect(await isWoken(id)).toBe(false);
    expect((await looks(id)).before).toBe('-2 days');
    await endIn('-49 hours', id);
    expect(await isWoken(id)).toBe(true);
    await update("defaulted_at = now(), remedied_at = now() - interval '23 hours'", id);
    expect(await isWoken(id)).toBe(false);
    await update("remedied_at = now() - interval '25 hours', look_at = now() - interval '1 hour'", id);
    expect(await isWoken(id)).toBe(true);
  });

  it('The sweep never rechecks a round that only waits for its members', async () => {
    const { id } = await begun(2, { on_default: 'wait' });
    await update('reminded_at = now(), overdue_reported_at = now(), defaulted_at = now()', id);
    await endIn('-30 days', id);
    expect(await isWoken(id)).toBe(false);
    expect((await looks(id)).before).toBeNull();
  });

  it('The sweep finds a round whose standing orders were not charged when it opened', async () => {
    const { id, memberIds, members } = await begun(2, {});
    await endIn('20 days', id);
    await stack
      .owner()
      .execute(
        'insert into saving_circle_standing_orders (id, source_account_id, amount, guarantee_amount) values (?, ?, 100000, 0)',
        [memberIds[0], members[0]?.accountId],
      );
    expect(await isWoken(id)).toBe(true);
    expect(await isWoken(id)).toBe(true);
    await stack
      .owner()
      .execute('update saving_circle_standing_orders set attempted_turn = 1 where id = ?', [memberIds[0]]);
    expect(await isWoken(id)).toBe(false);
    expect((await looks(id)).before).toBe('1 day');
  });

  it('The sweep wakes a cancelled circle once and then skips it', async () => {
    const { id, members } = await begun(3, {});
    for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
    for (const days of [0, 31]) await move(stack, id, new Date(Date.parse(longAgo) + days * 86_400_000).toISOString());
    const superAdmin = await buildSuperAdmin(stack);
    expect((await stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token: superAdmin.token })).status).toBe(
      200,
    );
    await waitForSignals(id);
    await update("look_at = now() - interval '1 hour'", id);
    await stack.owner().execute("update saving_circles set ended_at = ended_at - interval '1 hour' where id = ?", [id]);
    expect(await isWoken(id)).toBe(true);
    expect(await isWoken(id)).toBe(false);
    expect(await stack.em().execute(`select 1 from (${overdueCircles}) overdue where id = ?`, [id])).toEqual([]);
  });
});
