import { Donation } from '../../../src/giving/donations/donation.entity.ts';
import { traceDonation } from '../../../src/giving/donations/trace-donation.ts';
import { newId } from '../../../src/shared/ids.ts';
import { give } from '../../giving/donations/build-donations.ts';
import { asAClient } from '../../support/as-a-client.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
  fund,
} from '../../support/build.ts';
import { buildActiveCause, buildOrganizationCause } from '../../support/build-targets.ts';
import { secureSession } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { setFaults, settleAtProvider, transfersOf } from '../payouts/build-payouts.ts';
import { addBankAccount, ask, buildOwner, readWithdrawal, someKey, withdrawalWhen } from './build-withdrawals.ts';

let stack: Stack;
let superAdmin: BuiltUser;
let approvers: BuiltUser[];
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
  approvers = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const user = await buildSuperAdmin(stack);
      return { ...user, token: await secureSession(stack, user.id) };
    }),
  );
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const purpose_note = 'Two pumps and their pipes';

interface Case {
  owner: BuiltUser;
  causeId: string;
  bankAccountId: string;
  donor: BuiltUser;
  donationId: string;
}

/**
 * A cause of an individual or an organization that has received this much (IDR); its account holds another IDR 100,000.
 */
async function buildCause({ of, given = '400000' }: { of: 'person' | 'organization'; given?: string }): Promise<Case> {
  const owner =
    of === 'person' ? await buildOwner(stack, '100000') : await buildOrganizationAdmin(stack, { balance: '100000' });
  const { id: causeId } = await (of === 'person' ? buildActiveCause : buildOrganizationCause)(stack, owner);
  const donor = await buildIndividual(stack, { balance: given });
  await donate(causeId, donor, given);
  const [row] = await stack.em().execute<[{ id: string }]>('select id from donations where cause_id = ?', [causeId]);
  return { owner, causeId, donor, bankAccountId: await addBankAccount(stack, owner), donationId: row.id };
}

async function donate(causeId: string, donor: BuiltUser, amount: string): Promise<void> {
  expect((await give(stack, donor, Number(amount), causeId)).status).toBe(201);
}

const disburse = ({ owner, causeId, bankAccountId }: Case, amount: string, fields: object = {}, key?: string) =>
  ask(stack, owner, { bank_account_id: bankAccountId, amount, cause_id: causeId, purpose_note, ...fields }, key);
/** Disburses all IDR 400,000 of a cause to a bank that completes it on request only; returns the disbursement's id. */
async function disburseAll(it: Case): Promise<string> {
  const bankAccountId = await addBankAccount(stack, it.owner, '131313');
  const { id } = (await disburse({ ...it, bankAccountId }, '400000')).body.data;
  await eventually(
    () => transfersOf(stack, id),
    (transfers) => transfers.length === 1,
  );
  await settleAtProvider(stack, id, 'SUCCEEDED');
  await withdrawalWhen(stack, it.owner, id, 'succeeded');
  return id;
}

const statusOf = async (causeId: string) => {
  const [row] = await stack
    .em()
    .execute<[{ status: string }]>('select status from charitable_causes where id = ?', [causeId]);
  return row.status;
};
const decisionOf = async (withdrawalId: string) => {
  const { body } = await stack.get('/v1/decisions?kind=disburse&limit=100', { token: superAdmin.token });
  return body.data.items.find(({ withdrawal_id }: { withdrawal_id: string }) => withdrawal_id === withdrawalId);
};
/** The provider's last status, and the seconds until the next query. */
const lookOf = (id: string) =>
  stack.em().execute<{ last_word: string | null; in_seconds: number }[]>(
    `select last_word, extract(epoch from look_again_at - now())::float8 - 300 as in_seconds
       from payouts where id = ?`,
    [id],
  );
const approve = (decisionId: string, which: number) =>
  stack.post(`/v1/decisions/${decisionId}/approve`, undefined, { token: approvers[which]?.token ?? '' });

describe('A disbursement of an organization', () => {
  it('An organization’s disbursement is sent at once and is public with its purpose', async () => {
    const it = await buildCause({ of: 'organization' });
    const { status, body } = await disburse(it, '350000');
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ status: 'pending', cause_id: it.causeId, purpose_note });
    expect(await statusOf(it.causeId)).toBe('in_progress');
    const { id } = body.data;
    await withdrawalWhen(stack, it.owner, id, 'succeeded');
    expect(await transfersOf(stack, id)).toMatchObject([{ amount: 350_000 }]);
    expect(await balanceOf(stack, it.owner.accountId)).toBe('150000.0000');
    const stranger = await buildIndividual(stack);
    const list = await stack.get(`/v1/charitable-causes/${it.causeId}/disbursements`, { token: stranger.token });
    expect([list.status, list.body.data]).toEqual([
      200,
      {
        items: [
          {
            id,
            status: 'succeeded',
            amount: '350000.0000',
            fee: '0.0000',
            net_amount: '350000.0000',
            purpose_note,
            reference: expect.stringMatching(/^WD-/),
            created_at: expect.any(String),
            succeeded_at: expect.any(String),
            finalized_at: expect.any(String),
            booked_at: null,
          },
        ],
        page: 1,
        limit: 10,
        total: 1,
      },
    ]);
    // The cause can be read and donated to like an active one.
    await donate(it.causeId, await buildIndividual(stack, { balance: '500' }), '500');
    const found = await stack.get('/v1/charitable-causes?discover=true&limit=100', { token: stranger.token });
    expect(found.status).toBe(200);
    expect(found.body.charitable_causes.map((cause: { id: string }) => cause.id)).toContain(it.causeId);
    const read = await stack.get(`/v1/charitable-causes/${it.causeId}`, { token: stranger.token });
    expect(read.status).toBe(200);
  });

  it('A donation’s trace shows later disbursements, and only counts those beyond a maximum', async () => {
    const it = await buildCause({ of: 'organization' });
    const ids: string[] = [];
    for (const amount of ['10000', '20000']) ids.push((await disburse(it, amount)).body.data.id);
    for (const id of ids) await withdrawalWhen(stack, it.owner, id, 'succeeded');
    const donation = await stack.em().findOneOrFail(Donation, { id: it.donationId });
    const steps = await traceDonation(stack.em(), donation, { mostDisbursements: 1 });
    expect(steps.at(-2)).toMatchObject({ type: 'cause', disbursement_count: 2 });
    expect(steps.at(-1)).toMatchObject({ type: 'disbursement', disbursement_id: ids[0] });
    const { body } = await stack.get(`/v1/donations/${it.donationId}/trace`, { token: it.donor.token });
    expect(body.data.steps.slice(-3)).toMatchObject([
      { type: 'cause', disbursement_count: 2 },
      {
        type: 'disbursement',
        amount: '10000.0000',
        disbursement_id: ids[0],
        status: 'succeeded',
        purpose_note,
        reference: expect.stringMatching(/^WD-/),
      },
      { type: 'disbursement', disbursement_id: ids[1] },
    ]);
  });

  it('A disbursement above the configured amount waits for a decision, and no withdrawal limit applies', async () => {
    const it = await buildCause({ of: 'organization', given: '61000000' });
    const small = await disburse(it, '10000000');
    expect(await decisionOf(small.body.data.id)).toBeUndefined();
    const { id } = (await disburse(it, '50000001')).body.data;
    expect(await decisionOf(id)).toMatchObject({ status: 'pending', approved_by: [], proposed_by: it.owner.id });
  });

  itInFull('The last disbursement of a closed cause completes it', async () => {
    const it = await buildCause({ of: 'organization' });
    const first = (await disburse(it, '300000')).body.data;
    await withdrawalWhen(stack, it.owner, first.id, 'succeeded');
    const closed = await stack.delete(`/v1/charitable-causes/${it.causeId}`, undefined, { token: it.owner.token });
    expect(closed.status).toBe(200);
    const last = (await disburse(it, '100000')).body.data;
    await withdrawalWhen(stack, it.owner, last.id, 'succeeded');
    expect(await statusOf(it.causeId)).toBe('completed');
  });

  itInFull('A disbursement that the bank returns leaves its cause closed, not completed', async () => {
    const it = await buildCause({ of: 'organization' });
    await stack.patch(`/v1/charitable-causes/${it.causeId}`, { status: 'cancelled' }, { token: it.owner.token });
    const id = await disburseAll(it);
    expect(await statusOf(it.causeId)).toBe('completed');
    await settleAtProvider(stack, id, 'REVERSED');
    await withdrawalWhen(stack, it.owner, id, 'reversed');
    expect(await statusOf(it.causeId)).toBe('cancelled');
    const { body } = await stack.get(`/v1/events?resource_id=${it.causeId}&limit=1`, { token: superAdmin.token });
    expect(body.data.items).toMatchObject([
      { event: 'RESOURCE_UPDATED', data: { status: 'cancelled', previous_status: 'completed' } },
    ]);
    const again = (await disburse(it, '400000')).body.data;
    await withdrawalWhen(stack, it.owner, again.id, 'succeeded');
    expect(await statusOf(it.causeId)).toBe('completed');
  });

  itInFull('A late payment for a donation sets a completed cause back to its closed status', async () => {
    const it = await buildCause({ of: 'organization' });
    const order = async () => {
      const body = {
        reference_type: 'charitable_cause_donate',
        reference_id: it.causeId,
        payment_id: 1,
        amount: 50_000,
      };
      return (await stack.post('/v1/payments/gateway', body, { token: it.donor.token })).body.data;
    };
    const [first, second] = [await order(), await order()];
    await stack.patch(`/v1/charitable-causes/${it.causeId}`, { status: 'cancelled' }, { token: it.owner.token });
    await disburseAll(it);
    expect(await statusOf(it.causeId)).toBe('completed');
    await stack.sandbox.post('/sandbox/pay', { payment_code: first.payment_code });
    await eventually(
      () => statusOf(it.causeId),
      (status) => status === 'cancelled',
    );
    // Money that arrives while the cause is closed but not completed does not change its status.
    await stack.sandbox.post('/sandbox/pay', { payment_code: second.payment_code });
    await eventually(
      () =>
        stack
          .em()
          .execute<unknown[]>("select 1 from donations where cause_id = ? and status = 'completed'", [it.causeId]),
      (completed) => completed.length === 3,
    );
    expect(await statusOf(it.causeId)).toBe('cancelled');
  });

  itInFull('A stopped cause whose disbursement is returned is reinstated as closed, not completed', async () => {
    const it = await buildCause({ of: 'organization' });
    await stack.delete(`/v1/charitable-causes/${it.causeId}`, undefined, { token: it.owner.token });
    const id = await disburseAll(it);
    const decide = (what: string) =>
      stack.post(`/v1/charitable-causes/${it.causeId}/${what}`, { reason: 'Reviewed' }, { token: superAdmin.token });
    expect((await decide('stop')).status).toBe(200);
    await settleAtProvider(stack, id, 'REVERSED');
    await withdrawalWhen(stack, it.owner, id, 'reversed');
    expect(await statusOf(it.causeId)).toBe('rejected');
    expect((await decide('reinstate')).status).toBe(200);
    expect(await statusOf(it.causeId)).toBe('deactivated');
  });

  itInFull(
    'A disbursement returned after its cause was stopped and reinstated leaves the cause closed, not completed',
    async () => {
      const it = await buildCause({ of: 'organization' });
      await stack.delete(`/v1/charitable-causes/${it.causeId}`, undefined, { token: it.owner.token });
      const id = await disburseAll(it);
      for (const what of ['stop', 'reinstate']) {
        const path = `/v1/charitable-causes/${it.causeId}/${what}`;
        expect((await stack.post(path, { reason: 'Reviewed' }, { token: superAdmin.token })).status).toBe(200);
      }
      expect(await statusOf(it.causeId)).toBe('completed');
      await settleAtProvider(stack, id, 'REVERSED');
      await withdrawalWhen(stack, it.owner, id, 'reversed');
      expect(await statusOf(it.causeId)).toBe('deactivated');
    },
  );
});

describe('Money donated to a cause', () => {
  it('Withdrawals, transfers and payments cannot spend a cause’s donated money', async () => {
    const it = await buildCause({ of: 'person' });
    const { token, accountId } = it.owner;
    const pocket = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token })).body.data.id;
    const other = await buildActiveCause(stack);
    const withdraw = (amount: string) => ask(stack, it.owner, { bank_account_id: it.bankAccountId, amount });
    const transfer = (amount: string) =>
      stack.post(`/v1/accounts/${accountId}/transfers`, { destination_account_id: pocket, amount }, { token });
    const pay = (amount: number) =>
      stack.post(
        '/v1/payments/balance',
        { reference_type: 'charitable_cause_donate', reference_id: other.id, source_account_id: accountId, amount },
        { token },
      );
    for (const answer of [await withdraw('100001'), await transfer('100001'), await pay(100_001)]) {
      expect([answer.status, answer.body.message]).toEqual([
        400,
        expect.stringMatching(/^amount: only IDR 100000\.0000 of the account are free/),
      ]);
    }
    expect(await balanceOf(stack, accountId)).toBe('500000.0000');
    expect([(await withdraw('40000')).status, (await transfer('30000')).status, (await pay(30_000)).status]).toEqual([
      201, 201, 201,
    ]);
    expect((await pay(1)).status).toBe(400);
    expect(await balanceOf(stack, accountId)).toBe('400000.0000');
  });

  it('A payment of donated money is refused even if sent together with payments that succeed', async () => {
    const it = await buildCause({ of: 'person' });
    const target = await buildActiveCause(stack);
    const donors = await Promise.all(
      Array.from({ length: isFullRun() ? 12 : 5 }, () => buildIndividual(stack, { balance: '5000' })),
    );
    const pay = ({ token, accountId }: BuiltUser, amount: number) =>
      asAClient(() =>
        stack.post(
          '/v1/payments/balance',
          { reference_type: 'charitable_cause_donate', reference_id: target.id, source_account_id: accountId, amount },
          { token },
        ),
      );
    const answers = await Promise.all([...donors.map((donor) => pay(donor, 2000)), pay(it.owner, 200_000)]);
    expect(answers.map(({ status }) => status)).toEqual([...donors.map(() => 201), 400]);
    expect(await balanceOf(stack, it.owner.accountId)).toBe('500000.0000');
  });

  it('Donated money is disbursed once, however many requests arrive concurrently', async () => {
    const it = await buildCause({ of: 'organization', given: '100000' });
    const answers = await Promise.all(
      Array.from({ length: isFullRun() ? 50 : 15 }, () => {
        const key = someKey();
        return asAClient(() => disburse(it, '10000', {}, key));
      }),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(await balanceOf(stack, it.owner.accountId)).toBe('100000.0000');
    await eventually(
      () =>
        stack
          .em()
          .execute<unknown[]>("select 1 from payouts where status = 'pending' and source_account_id = ?", [
            it.owner.accountId,
          ]),
      (pending) => pending.length === 0,
      120_000,
    );
  }, 180_000);
});

describe('A disbursement of an individual', () => {
  it('An individual’s disbursement is reserved but not sent until two platform users approve it', async () => {
    const it = await buildCause({ of: 'person' });
    const bankAccountId = await addBankAccount(stack, it.owner, '131313');
    const { id } = (await disburse({ ...it, bankAccountId }, '400000')).body.data;
    // Approved days later, the disbursement is queried like a new one and is not listed as stuck.
    await withoutTriggers(stack, "update payouts set created_at = created_at - interval '3 days' where id = ?", [id]);
    const decision = await decisionOf(id);
    expect(decision).toMatchObject({ kind: 'disburse', status: 'pending', approved_by: [], note: purpose_note });
    expect(await balanceOf(stack, it.owner.accountId)).toBe('100000.0000');
    const first = await approve(decision.id, 0);
    expect([first.status, first.body.data]).toMatchObject([
      200,
      { status: 'pending', approved_by: [approvers[0]?.id] },
    ]);
    expect((await approve(decision.id, 0)).status).toBe(403);
    expect(await statusOf(it.causeId)).toBe('active');
    expect(await transfersOf(stack, id)).toEqual([]);
    const settling = { kind: 'settle_payout', payout_id: id, outcome: 'failed', note: 'ticket 4711' };
    expect((await stack.post('/v1/decisions', settling, { token: superAdmin.token })).status).toBe(400);
    const told = await stack.get(`/v1/withdrawals/${id}/timeline`, { token: it.owner.token });
    expect(told.body.data.next.text).toMatch(/two of our operators approve/);
    const second = await approve(decision.id, 1);
    expect([second.status, second.body.data]).toMatchObject([
      200,
      { status: 'carried_out', approved_by: [approvers[0]?.id, approvers[1]?.id] },
    ]);
    const [row] = await eventually(
      () => lookOf(id),
      ([found]) => found?.last_word === 'accepted',
    );
    expect(row?.in_seconds).toBeLessThanOrEqual(60);
    const stuck = await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: superAdmin.token });
    expect(stuck.body.data.items.map(({ payout_id }: { payout_id: string }) => payout_id)).not.toContain(id);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await withdrawalWhen(stack, it.owner, id, 'succeeded');
    expect(await transfersOf(stack, id)).toHaveLength(1);
    expect(await statusOf(it.causeId)).toBe('in_progress');
    expect((await approve(decision.id, 2)).status).toBe(400);
  });

  itInFull(
    'An individual’s disbursement approved after days is queried like a new one and is not listed as stuck',
    async () => {
      const it = await buildCause({ of: 'person' });
      const bankAccountId = await addBankAccount(stack, it.owner, '131313');
      const { id } = (await disburse({ ...it, bankAccountId }, '400000')).body.data;
      await withoutTriggers(stack, "update payouts set created_at = created_at - interval '3 days' where id = ?", [id]);
      const { id: decisionId } = await decisionOf(id);
      await setFaults(stack, { callbacks: { drop: true } });
      try {
        for (const which of [0, 1]) expect((await approve(decisionId, which)).status).toBe(200);
        const accepted = () =>
          stack.em().execute<unknown[]>("select 1 from payouts where id = ? and last_word = 'accepted'", [id]);
        await eventually(accepted, (found) => found.length === 1);
        const stuck = await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: superAdmin.token });
        expect(stuck.body.data.items.map(({ payout_id }: { payout_id: string }) => payout_id)).not.toContain(id);
        // No callback arrives: only polling finds the outcome.
        await settleAtProvider(stack, id, 'SUCCEEDED');
        await withdrawalWhen(stack, it.owner, id, 'succeeded', 60_000);
      } finally {
        await setFaults(stack, {});
      }
    },
    90_000,
  );

  it('A rejected disbursement fails with DECISION_REJECTED and releases all its money', async () => {
    const it = await buildCause({ of: 'person' });
    const { id } = (await disburse(it, '400000')).body.data;
    const { id: decisionId } = await decisionOf(id);
    await approve(decisionId, 0);
    const token = approvers[1]?.token ?? '';
    const { status, body } = await stack.post(`/v1/decisions/${decisionId}/reject`, undefined, { token });
    expect([status, body.data.status]).toEqual([200, 'rejected']);
    expect(await withdrawalWhen(stack, it.owner, id, 'failed')).toMatchObject({ failure_code: 'DECISION_REJECTED' });
    expect(await balanceOf(stack, it.owner.accountId)).toBe('500000.0000');
    expect(await transfersOf(stack, id)).toEqual([]);
    expect((await disburse(it, '400000')).status).toBe(201);
  });

  itInFull(
    'An individual’s disbursement lapses after seven days, not one, and fails with DECISION_LAPSED',
    async () => {
      const it = await buildCause({ of: 'person' });
      const { id } = (await disburse(it, '400000')).body.data;
      const { id: decisionId } = await decisionOf(id);
      const age = (days: number) =>
        withoutTriggers(stack, `update decisions set created_at = now() - interval '${days} days' where id = ?`, [
          decisionId,
        ]);
      const sweep = async () => {
        const { client, taskQueue } = stack.deps.workflows;
        await client.workflow.execute('sweep', { workflowId: `test/${newId()}`, taskQueue, args: [] });
      };
      await age(6);
      await sweep();
      expect(await decisionOf(id)).toMatchObject({ status: 'pending' });
      await age(8);
      await sweep();
      expect(await decisionOf(id)).toMatchObject({ status: 'lapsed', reason: 'it is older than 168 hours' });
      expect(await withdrawalWhen(stack, it.owner, id, 'failed')).toMatchObject({ failure_code: 'DECISION_LAPSED' });
      expect(await balanceOf(stack, it.owner.accountId)).toBe('500000.0000');
    },
  );

  it('The decision about a disbursement lapses if its cause was stopped', async () => {
    const it = await buildCause({ of: 'person' });
    const { id } = (await disburse(it, '400000')).body.data;
    const { id: decisionId } = await decisionOf(id);
    const stop = { reason: 'Reported by neighbours' };
    await stack.post(`/v1/charitable-causes/${it.causeId}/stop`, stop, { token: superAdmin.token });
    expect((await disburse(it, '10000')).status).toBe(400);
    const { status, body } = await approve(decisionId, 0);
    expect([status, body.data.status]).toEqual([200, 'lapsed']);
    await withdrawalWhen(stack, it.owner, id, 'failed');
  });

  it('An approved disbursement is sent even if its workflow was lost', async () => {
    const it = await buildCause({ of: 'person' });
    const { id } = (await disburse(it, '400000')).body.data;
    await loseWorkflow(stack.deps.workflows.client, `withdrawal/${id}`);
    const { id: decisionId } = await decisionOf(id);
    await approve(decisionId, 0);
    await approve(decisionId, 1);
    await withdrawalWhen(stack, it.owner, id, 'succeeded');
  });

  itInFull('A rejected disbursement releases all its money even if its workflow was lost', async () => {
    const it = await buildCause({ of: 'person' });
    const { id } = (await disburse(it, '400000')).body.data;
    await loseWorkflow(stack.deps.workflows.client, `withdrawal/${id}`);
    const { id: decisionId } = await decisionOf(id);
    const token = approvers[0]?.token ?? '';
    expect((await stack.post(`/v1/decisions/${decisionId}/reject`, undefined, { token })).status).toBe(200);
    expect(await withdrawalWhen(stack, it.owner, id, 'failed')).toMatchObject({ failure_code: 'DECISION_REJECTED' });
    expect(await balanceOf(stack, it.owner.accountId)).toBe('500000.0000');
  });

  it('The decision about a disbursement lapses if its bank account was deleted', async () => {
    const it = await buildCause({ of: 'person' });
    const { id, bank_account_id } = (await disburse(it, '400000')).body.data;
    const { id: decisionId } = await decisionOf(id);
    await stack.delete(`/v1/bank-accounts/${bank_account_id}`, undefined, { token: it.owner.token });
    const { status, body } = await approve(decisionId, 0);
    expect([status, body.data]).toMatchObject([200, { status: 'lapsed', reason: 'the bank account was deleted' }]);
    expect(await withdrawalWhen(stack, it.owner, id, 'failed')).toMatchObject({ failure_code: 'DECISION_LAPSED' });
  });
});

describe('Refused disbursements', () => {
  it.each([
    ['of more than the cause may disburse', { amount: '400001' }, 400, 'amount'],
    ['without a purpose', { purpose_note: undefined }, 400, 'purpose_note: is required'],
    ['with a note that is too short', { purpose_note: 'Pumps' }, 400, 'purpose_note'],
    ['with a note that is too long', { purpose_note: 'x'.repeat(501) }, 400, 'purpose_note'],
    ['with a note and no cause', { cause_id: undefined }, 400, 'purpose_note'],
    ['of a missing cause', { cause_id: newId() }, 404, 'cause_id'],
  ])('A disbursement %s is refused', async (_, fields, status, name) => {
    const it = await buildCause({ of: 'organization' });
    const answer = await disburse(it, '10000', fields);
    expect([answer.status, String(answer.body.message)]).toEqual([status, expect.stringContaining(name)]);
    expect(await balanceOf(stack, it.owner.accountId)).toBe('500000.0000');
  });

  it('A disbursement is refused for a cause that is foreign, in another account or not approved', async () => {
    const [it, other] = await Promise.all([buildCause({ of: 'person' }), buildCause({ of: 'person' })]);
    expect((await disburse({ ...it, causeId: other.causeId }, '10000')).status).toBe(403);
    const { token } = it.owner;
    const accountId = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token })).body.data.id;
    await fund(stack, accountId, '100000');
    expect((await disburse({ ...it, owner: { ...it.owner, accountId } }, '10000')).status).toBe(400);
    await stack.patch(`/v1/charitable-causes/${it.causeId}`, { name: 'Another well' }, { token });
    expect((await disburse(it, '10000')).status).toBe(400);
    expect(await readWithdrawal(stack, it.owner, newId())).toBeUndefined();
  });
});
