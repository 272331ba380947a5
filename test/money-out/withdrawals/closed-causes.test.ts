import { give } from '../../giving/donations/build-donations.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin, buildSuperAdmin } from '../../support/build.ts';
import { buildOrganizationCause } from '../../support/build-targets.ts';
import { itInFull } from '../../support/full.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { settleAtProvider } from '../payouts/build-payouts.ts';
import { addBankAccount, ask, withdrawalWhen } from './build-withdrawals.ts';

let stack: Stack;
let superAdmin: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

interface Case {
  owner: BuiltUser;
  causeId: string;
}

/** A cause of an organization that has received IDR 400,000. */
async function buildCause(): Promise<Case> {
  const owner = await buildOrganizationAdmin(stack, { balance: '100000' });
  const { id: causeId } = await buildOrganizationCause(stack, owner);
  const donor = await buildIndividual(stack, { balance: '400000' });
  expect((await give(stack, donor, 400_000, causeId)).status).toBe(201);
  return { owner, causeId };
}

/** Disburses this much and waits until it has reached the bank; returns the disbursement's id. */
async function disburse({ owner, causeId }: Case, amount: string): Promise<string> {
  const bank_account_id = await addBankAccount(stack, owner);
  const body = { bank_account_id, amount, cause_id: causeId, purpose_note: 'Two pumps and their pipes' };
  const answer = await ask(stack, owner, body);
  expect(answer.status).toBe(201);
  await withdrawalWhen(stack, owner, answer.body.data.id, 'succeeded');
  return answer.body.data.id;
}
const statusOf = async ({ causeId, owner }: Case) =>
  (await stack.get(`/v1/charitable-causes/${causeId}`, { token: owner.token })).body.charitable_cause.status;
const eventsOf = async ({ causeId }: Case) =>
  (await stack.get(`/v1/events?resource_id=${causeId}&event=RESOURCE_UPDATED&limit=10`, { token: superAdmin.token }))
    .body.data.items;
const remove = ({ causeId, owner }: Case) =>
  stack.delete(`/v1/charitable-causes/${causeId}`, undefined, { token: owner.token });
const setStatus = ({ causeId, owner }: Case, status: string) =>
  stack.patch(`/v1/charitable-causes/${causeId}`, { status }, { token: owner.token });

describe('A cause closed after its last disbursement', () => {
  itInFull('A fully disbursed cause is completed when deleted, and deactivated if the money is returned', async () => {
    const it = await buildCause();
    const id = await disburse(it, '400000');
    const { status, body } = await remove(it);
    expect([status, body.data.status]).toEqual([200, 'deactivated']);
    expect(await statusOf(it)).toBe('completed');
    expect((await eventsOf(it))[0]).toMatchObject({
      actor_id: it.owner.id,
      request_id: expect.any(String),
      data: { status: 'completed', previous_status: 'deactivated' },
    });
    await settleAtProvider(stack, id, 'REVERSED');
    await withdrawalWhen(stack, it.owner, id, 'reversed');
    expect(await statusOf(it)).toBe('deactivated');
  });

  itInFull.each(['cancelled', 'deactivated'])(
    'A fully disbursed cause set to %s is completed, and takes that status if money is returned',
    async (closed) => {
      const it = await buildCause();
      const id = await disburse(it, '400000');
      const { status, body } = await setStatus(it, closed);
      expect([status, body.data.status]).toEqual([200, closed]);
      expect(await statusOf(it)).toBe('completed');
      await settleAtProvider(stack, id, 'REVERSED');
      await withdrawalWhen(stack, it.owner, id, 'reversed');
      expect(await statusOf(it)).toBe(closed);
    },
  );

  it('A cause that never disbursed anything is closed as requested', async () => {
    const owner = await buildOrganizationAdmin(stack, { balance: '100000' });
    const it = { owner, causeId: (await buildOrganizationCause(stack, owner)).id };
    expect((await setStatus(it, 'cancelled')).body.data.status).toBe('cancelled');
    expect((await remove(it)).body.data.status).toBe('deactivated');
  });
});

describe('A cause closed before its last disbursement', () => {
  it('The last disbursement of a closed cause completes it, with its requester as the actor', async () => {
    const it = await buildCause();
    const id = await disburse(it, '300000');
    expect((await setStatus(it, 'cancelled')).body.data.status).toBe('cancelled');
    const last = await disburse(it, '100000');
    expect(await statusOf(it)).toBe('completed');
    const requestOf = async (payoutId: string) => {
      const [row] = await stack
        .em()
        .execute<[{ request_id: string }]>('select request_id from payouts where id = ?', [payoutId]);
      return row.request_id;
    };
    const events = await eventsOf(it);
    const of = (status: string) => events.find((event: { data: { status?: string } }) => event.data.status === status);
    expect(of('in_progress')).toMatchObject({ actor_id: it.owner.id, request_id: await requestOf(id) });
    expect(of('completed')).toMatchObject({ actor_id: it.owner.id, request_id: await requestOf(last) });
  });
});
