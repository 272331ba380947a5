import type { CircleTerms } from '../../src/circles/terms.ts';
import { buildPlatformAdmin } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { type BegunCircle, begun, move, onDay, opened, passTime } from './begin-circle.ts';
import { addMembers, buildMembers, contribute } from './build-circle.ts';

let stack: Stack;
/** Temporal is down, so that only the test runs steps. */
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** Counts the rows, and the statements of one transaction that wrote them. */
async function written(rows: string, circleId: string): Promise<{ rows: number; statements: number }> {
  const [found] = await stack
    .owner()
    .execute<{ rows: number; statements: number }[]>(
      `select count(*)::integer as rows, count(distinct cmin::text)::integer as statements from ${rows}`,
      [circleId],
    );
  return found ?? { rows: 0, statements: 0 };
}

/** Creates a circle of six in its second round, in which only the last three members have paid. */
async function halfPaid(terms: Partial<CircleTerms>): Promise<BegunCircle> {
  const circle = await begun(stack, 6, terms);
  const { id, members } = circle;
  for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
  await move(stack, id, onDay(0));
  await move(stack, id, onDay(1));
  for (const member of members.slice(3)) expect((await contribute(stack, member, id)).status).toBe(201);
  return circle;
}

describe('Circle operations that run as one statement, whatever the number of members', () => {
  itInFull('Members added in one request join in the order of the request', async () => {
    const members = await buildMembers(stack, 6);
    const [creator] = members as [(typeof members)[0]];
    const id = await opened(stack, creator);
    const joining = members.toReversed();
    const joined = await addMembers(stack, creator, id, joining);
    expect(joined.body.data.members.map(({ user_id }: { user_id: string }) => user_id)).toEqual(
      joining.map((member) => member.id),
    );
    expect(await written('saving_circle_members where saving_circle_id = ?', id)).toEqual({ rows: 6, statements: 1 });
  });

  it('Reporting and covering missing contributions each take one statement for all members', async () => {
    const { id } = await halfPaid({ on_default: 'cover', guarantee_percent: 100 });
    await passTime(stack, id, onDay(3));
    for (const event of ['CONTRIBUTION_DUE', 'CONTRIBUTION_OVERDUE', 'MEMBER_DEFAULTED']) {
      const rows = `events where resource_id = ? and event = '${event}'`;
      expect(await written(rows, id)).toEqual({ rows: 3, statements: 1 });
    }
    expect(await written('saving_circle_covers where saving_circle_id = ?', id)).toEqual({ rows: 3, statements: 1 });
  });

  itInFull('Excluding members renumbers all later turns in one statement', async () => {
    const { id } = await halfPaid({ on_default: 'exclude' });
    await passTime(stack, id, onDay(3));
    const places = 'saving_circle_members where saving_circle_id = ? and';
    expect(await written(`${places} turn_number > 1`, id)).toEqual({ rows: 3, statements: 1 });
  });

  itInFull('Cancelling a circle takes one statement each for refunds and settlements', async () => {
    const { id } = await halfPaid({ guarantee_percent: 50 });
    const { token } = await buildPlatformAdmin(stack);
    const cancelled = await stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token });
    expect(cancelled.status).toBe(200);
    const refunded = `saving_circle_contributions where saving_circle_id = ? and status = 'refunded'`;
    expect(await written(refunded, id)).toEqual({ rows: 3, statements: 1 });
    expect(await written('saving_circle_settlements where saving_circle_id = ?', id)).toEqual({
      rows: 5,
      statements: 1,
    });
  });
});
