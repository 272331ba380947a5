import { newId } from '../../../src/shared/ids.ts';
import { measureBacklog, readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin, buildSuperAdmin } from '../../support/build.ts';
import { approve, evidenceNote, secureSession } from '../../support/decide.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
/** Three approvers, as the command line creates them. */
let first: BuiltUser;
let second: BuiltUser;
let third: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  [first, second, third] = await Promise.all([superAdmin(), superAdmin(), superAdmin()]);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const secured = async (user: BuiltUser): Promise<BuiltUser> => ({
  ...user,
  token: await secureSession(stack, user.id),
});
const superAdmin = async (isApprover = true) => secured(await buildSuperAdmin(stack, { isApprover }));

/** A super admin who was invited by this person and accepted. */
async function invitedBy({ id: inviter }: BuiltUser): Promise<BuiltUser> {
  const user = await superAdmin(false);
  await noteInvitation(user, inviter);
  return user;
}
const noteInvitation = ({ id }: BuiltUser, inviter: string) =>
  stack.em().execute(
    `insert into invitations (id, user_id, token_hash, expires_at, created_by, by_super_admin, accepted_at)
     values (?, ?, ?, now(), ?, true, now())`,
    [newId(), id, newId(), inviter],
  );

const propose = ({ token }: BuiltUser, proposal: object) =>
  stack.post('/v1/decisions', { note: evidenceNote, ...proposal }, { token });
const admitting = ({ id }: BuiltUser) => ({ kind: 'admit_approver', user_id: id });
const decideBy = (approver: BuiltUser, id: string) => approve(stack, { proposer: first, approver }, id);
async function admit(user: BuiltUser, proposer = second, approver = third) {
  const { status, body } = await propose(proposer, admitting(user));
  return status === 201 ? decideBy(approver, body.data.id) : { status, body };
}
const isApprover = async ({ id }: BuiltUser): Promise<boolean> => {
  const [row] = await stack.em().execute<{ is: boolean }[]>("select is_operator(?, 'approve-decision') as is", [id]);
  return row?.is === true;
};
const something = async () => {
  const { body } = await propose(second, { kind: 'book_external', amount: '5', reference: newId() });
  return body.data.id as string;
};
const eventsAbout = async ({ id }: BuiltUser): Promise<string[]> => {
  const { body } = await stack.get(`/v1/events?resource_id=${id}&limit=100`, { token: first.token });
  const items: { event: string; impact: string }[] = body.data.items;
  return items.filter(({ impact }) => impact === 'HIGH').map(({ event }) => event);
};

describe('An approver', () => {
  it('An invited approver can approve nothing until two others admit them, and then anything', async () => {
    const invited = await invitedBy(first);
    const id = await something();
    for (const step of ['approve', 'reject']) {
      const { status, body } = await stack.post(`/v1/decisions/${id}/${step}`, undefined, { token: invited.token });
      expect([status, body.message]).toEqual([403, expect.stringContaining('must admit you first')]);
    }
    expect((await admit(invited)).body).toMatchObject({ data: { status: 'carried_out', user_id: invited.id } });
    expect((await decideBy(invited, id)).body).toMatchObject({ data: { status: 'carried_out' } });
    expect((await decideBy(invited, await something())).status).toBe(200);
    expect((await eventsAbout(invited)).toSorted()).toEqual(['APPROVER_ADMITTED', 'APPROVER_FIRST_APPROVED']);
    const told = (await readBacklog(stack.em())).find(({ what }) => what === 'new_approvers');
    expect(told?.rows).toBeGreaterThan(0);
  });

  it('An approver is admitted only by two others who invited neither the approver nor each other', async () => {
    const invited = await invitedBy(first);
    const puppet = await invitedBy(first);
    const ofPuppet = await invitedBy(puppet);
    const admitted = await invitedBy(second);
    await admit(admitted, first, third);
    const ofAdmitted = await invitedBy(admitted);
    const statusOf = async (...asked: Parameters<typeof admit>) => (await admit(...asked)).status;
    expect({
      'proposed by the inviter': await statusOf(invited, first, second),
      'approved by the inviter': await statusOf(invited, second, first),
      'proposed by the new approver': await statusOf(invited, invited, second),
      'proposed by an invitee of the approver': await statusOf(invited, admitted, second),
      'approved by an invitee of the proposer': await statusOf(invited, second, admitted),
      'proposed by an invitee of an invitee of the approver': await statusOf(ofAdmitted, ofPuppet, first),
      'invited by an invitee of the approver': await statusOf(ofPuppet, second, first),
    }).toEqual({
      'proposed by the inviter': 403,
      'approved by the inviter': 403,
      'proposed by the new approver': 403,
      'proposed by an invitee of the approver': 403,
      'approved by an invitee of the proposer': 403,
      'proposed by an invitee of an invitee of the approver': 403,
      'invited by an invitee of the approver': 403,
    });
    expect(await isApprover(invited)).toBe(false);
    // An admitted approver is responsible for their own invitees.
    expect(await statusOf(ofAdmitted, second, third)).toBe(200);
  });

  it('An approver cannot approve proposals of direct or indirect invitees who are not admitted', async () => {
    const puppet = await invitedBy(first);
    const ofPuppet = await invitedBy(puppet);
    const proposed = async (by: BuiltUser) =>
      (await propose(by, { kind: 'book_external', amount: '5', reference: newId() })).body.data.id as string;
    const decideOn = (approver: BuiltUser, id: string) => approve(stack, { proposer: second, approver }, id);
    for (const proposer of [puppet, ofPuppet]) {
      const id = await proposed(proposer);
      expect((await decideOn(first, id)).body).toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining('you invited'),
      });
      const itself = stack.em().execute('update decisions set approved_by = ? where id = ?', [first.id, id]);
      await expect(itself).rejects.toMatchObject({ code: 'AM010' });
      expect((await decideOn(third, id)).body).toMatchObject({ data: { status: 'carried_out' } });
    }
    expect((await admit(puppet)).status).toBe(200);
    expect((await decideOn(first, await proposed(puppet))).body).toMatchObject({ data: { status: 'carried_out' } });
  });

  it('Only active platform users with the permission who are not approvers yet can be admitted', async () => {
    const person = await buildIndividual(stack);
    const admin = await buildPlatformAdmin(stack, { isApprover: false });
    const suspended = await invitedBy(first);
    await stack.em().execute("update users set status = 'suspended' where id = ?", [suspended.id]);
    const nobody = { ...person, id: newId() };
    const refusals = await Promise.all([person, admin, suspended, third, nobody].map((user) => admit(user)));
    expect(refusals.map(({ status, body }) => [status, body.message])).toEqual([
      [400, 'user_id: only users of the platform approve decisions'],
      [400, 'user_id: the role of the user lacks the permission approve-decision'],
      [400, 'user_id: the user is suspended, not active'],
      [400, 'user_id: the user has been admitted already'],
      [404, 'user_id: the user was not found'],
    ]);
  });

  it('A suspension or loss of the role revokes an approver’s admission permanently', async () => {
    for (const change of [
      ["status = 'suspended'", "status = 'active'"],
      ['role_id = null', "role_id = (select id from roles where name = 'platform_super_admin')"],
    ]) {
      const user = await invitedBy(first);
      await admit(user);
      expect(await isApprover(user)).toBe(true);
      for (const set of change) await stack.em().execute(`update users set ${set} where id = ?`, [user.id]);
      expect([change[0], await isApprover(user)]).toEqual([change[0], false]);
      expect((await decideBy(user, await something())).status).toBe(403);
    }
  });

  it('The application cannot admit an approver by SQL without a decision of two people', async () => {
    const user = await invitedBy(first);
    const { body } = await propose(second, admitting(user));
    const admitted = stack.em().execute('update users set approver_since = now() where id = ?', [user.id]);
    await expect(admitted).rejects.toMatchObject({ code: 'AM010' });
    const approved = 'update decisions set approved_by = ? where id = ?';
    await expect(stack.em().execute(approved, [first.id, body.data.id])).rejects.toMatchObject({ code: 'AM010' });
    expect(await isApprover(user)).toBe(false);
  });

  it('New approvers are counted in the amanah_waiting gauge', async () => {
    measureBacklog(stack.deps.metrics, stack.deps.orm);
    expect(await stack.deps.metrics.registry.metrics()).toMatch(/amanah_waiting\{what="new_approvers"\} [1-9]/);
  });
});
