import { continueErasure } from '../../../src/control/erasure/continue-erasure.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildOperators, decide, type Operators, propose, secureSession } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

/** The number of rounds of each race. */
const turns = isFullRun() ? 10 : 3;
const note = 'Letter 12/2026 of the court';
const place = (id: string, token = operators.proposer.token) =>
  stack.post(`/v1/users/${id}/legal-hold`, { note }, { token });
const read = (id: string) => stack.get(`/v1/users/${id}/legal-hold`, { token: operators.proposer.token });
const lift = (id: string, token = operators.approver.token) =>
  stack.delete(`/v1/users/${id}/legal-hold`, undefined, { token });
const eventsOf = async (id: string) =>
  stack
    .em()
    .execute('select event, impact, actor_id from events where resource_id = ? order by created_at, event', [id]);
const terms = () => ({ ...stack.deps, config: { ERASURE_WAIT_HOURS: 0, KEYS_BACKUP_DAYS: 30 } });
/** Begins an erasure without a workflow. */
const beginErasure = async (userId: string): Promise<string> => {
  const id = newId();
  await stack.em().execute("insert into erasures (id, user_id, status) values (?, ?, 'waiting')", [id, userId]);
  return id;
};

describe('A person under a legal hold', () => {
  it('A person under a legal hold cannot be proposed for erasure until another operator lifts it', async () => {
    const { id } = await buildIndividual(stack);
    const placed = await place(id);
    expect(placed).toMatchObject({
      status: 201,
      body: { data: { user_id: id, note, placed_by: operators.proposer.id, lifted_by: null, lifted_at: null } },
    });
    expect((await read(id)).body.data).toEqual(placed.body.data);
    const refused = await propose(stack, operators, { kind: 'erase_person', user_id: id });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'user_id: the user cannot be erased yet: they are under a legal hold',
    ]);
    expect(await lift(id)).toMatchObject({
      status: 200,
      body: { data: { id: placed.body.data.id, lifted_by: operators.approver.id, lifted_at: expect.any(String) } },
    });
    expect((await read(id)).status).toBe(404);
    expect((await lift(id)).status).toBe(404);
    expect(await eventsOf(id)).toEqual([
      { event: 'LEGAL_HOLD_PLACED', impact: 'HIGH', actor_id: operators.proposer.id },
      { event: 'LEGAL_HOLD_LIFTED', impact: 'HIGH', actor_id: operators.approver.id },
    ]);
    expect(await decide(stack, operators, { kind: 'erase_person', user_id: id })).toMatchObject({
      status: 'carried_out',
    });
  });

  it('An approved erasure waits while the person is under a legal hold, and continues once it is lifted', async () => {
    const { id } = await buildIndividual(stack);
    const erasure = await beginErasure(id);
    await place(id);
    const held = await continueErasure(stack.em(), terms(), erasure);
    expect(held).toEqual({ status: 'waiting', waitMs: 24 * 3_600_000 });
    const shown = await stack.get(`/v1/users/${id}/erasure`, { token: operators.proposer.token });
    expect(shown.body.data).toMatchObject({ status: 'waiting', held_because: 'they are under a legal hold' });
    await lift(id);
    expect(await continueErasure(stack.em(), terms(), erasure)).toMatchObject({ status: 'erased' });
    expect((await place(id)).body.message).toBe('user_id: the user has been erased');
  });

  it('Of a concurrent legal hold and erasure, exactly one takes effect', async () => {
    for (let turn = 0; turn < turns; turn += 1) {
      const { id } = await buildIndividual(stack);
      const erasure = await beginErasure(id);
      const [placed, { status }] = await Promise.all([place(id), continueErasure(stack.em(), terms(), erasure)]);
      expect([placed.status, status]).toEqual(placed.status === 201 ? [201, 'waiting'] : [400, 'erased']);
    }
  });
});

describe('A legal hold', () => {
  itInFull('Of twenty concurrent requests for a legal hold on one person, one succeeds', async () => {
    const { id } = await buildIndividual(stack);
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => place(id)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, ...Array(19).fill(400)]);
    expect((await place(id)).body.message).toBe('user_id: the user is already under a legal hold');
  });

  it('A legal hold can be lifted only by a super admin who did not place it, and stays lifted', async () => {
    const { id } = await buildIndividual(stack);
    await place(id, operators.approver.token);
    expect((await lift(id)).status).toBe(403);
    expect((await lift(id, operators.proposer.token)).status).toBe(403);
    const other = await buildSuperAdmin(stack);
    expect((await lift(id, other.token)).body.message).toContain('second factor');
    expect((await lift(id, await secureSession(stack, other.id))).status).toBe(200);
    await expect(
      stack.em().execute('update legal_holds set lifted_by = null, lifted_at = null where user_id = ?', [id]),
    ).rejects.toMatchObject({ code: 'AM003' });
    await expect(stack.owner().execute('delete from legal_holds where user_id = ?', [id])).rejects.toMatchObject({
      code: 'AM003',
    });
    // A new hold can be placed.
    expect((await place(id)).status).toBe(201);
  });

  it('A legal hold cannot be lifted by the person under it', async () => {
    const admin = await buildSuperAdmin(stack);
    expect((await place(admin.id)).status).toBe(201);
    expect((await lift(admin.id, await secureSession(stack, admin.id))).status).toBe(403);
    expect((await lift(admin.id)).status).toBe(200);
  });

  it('A legal hold cannot be placed on a person who was only invited', async () => {
    const invitation = { email: `${newId()}@example.org`, name: 'Budi', user_type: 'individual' };
    const invited = await stack.post('/v1/users/invitations', invitation, { token: operators.proposer.token });
    const { status, body } = await place(invited.body.data.id);
    expect([status, body.message]).toEqual([400, 'user_id: the user has not accepted the invitation']);
  });

  it('Two operators can concurrently place legal holds on each other', async () => {
    for (let turn = 0; turn < turns; turn += 1) {
      const [one, other] = [await buildSuperAdmin(stack), await buildSuperAdmin(stack)];
      const statuses = await Promise.all([place(one.id, other.token), place(other.id, one.token)]);
      expect(statuses.map(({ status }) => status)).toEqual([201, 201]);
    }
  });

  it('A legal hold can be placed and read only by operators, and needs a note', async () => {
    const { id, token } = await buildIndividual(stack);
    expect((await place(id, token)).status).toBe(403);
    expect((await stack.get(`/v1/users/${id}/legal-hold`, { token })).status).toBe(403);
    expect((await place(newId())).status).toBe(404);
    expect((await lift(newId())).status).toBe(404);
    const { status, body } = await stack.post(`/v1/users/${id}/legal-hold`, {}, { token: operators.proposer.token });
    expect([status, body.message]).toEqual([400, 'note: is required']);
  });
});
