import { continueErasure } from '../../../src/control/erasure/continue-erasure.ts';
import { settleAtProvider } from '../../money-out/payouts/build-payouts.ts';
import {
  askDisbursement,
  buildWaitingDisbursement,
  withdraw,
  withdrawalWhen,
} from '../../money-out/withdrawals/build-withdrawals.ts';
import { type BuiltUser, balanceOf, buildSuperAdmin } from '../../support/build.ts';
import { decide, type Operators, secureSession } from '../../support/decide.ts';
import { eventually, type Stack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';

/** Stops further queries of the provider about a withdrawal. */
export const lookNoMore = (stack: Stack, withdrawalId: string) =>
  stack.owner().execute('update payouts set look_again_at = null where id = ?', [withdrawalId]);

/** History events of a workflow's start, its first task (three), and a started activity (two). */
const eventsOfOneLook = 6;

/** Has two operators erase a person, skipping the waiting time, until only backups of the key are left. */
export async function erase(stack: Stack, operators: Operators, { id }: Pick<BuiltUser, 'id'>): Promise<void> {
  expect(await decide(stack, operators, { kind: 'erase_person', user_id: id })).toMatchObject({
    status: 'carried_out',
  });
  const { body } = await stack.get(`/v1/users/${id}/erasure`, { token: operators.proposer.token });
  // Waits for the worker's first check, which must find that it has to wait; a later check would see these changes.
  const looks = stack.deps.workflows.client.workflow.getHandle(`person-erasure/${body.data.id}`);
  if (stack.worker !== undefined) {
    await eventually(
      () => looks.describe(),
      ({ historyLength, raw }) => historyLength > eventsOfOneLook && raw.pendingActivities?.length === 0,
    );
  }
  const config = { ERASURE_WAIT_HOURS: 0, KEYS_BACKUP_DAYS: 30 };
  expect(await continueErasure(stack.em(), { ...stack.deps, config }, body.data.id)).toMatchObject({
    status: 'erased',
  });
}

export interface StrandedCause {
  owner: BuiltUser;
  /** The account that paid its only donation, of IDR 400,000. */
  donorAccountId: string;
  donationId: string;
  causeId: string;
  /** The ids of the disbursements; the bank has returned the first. */
  disbursements: string[];
}

/**
 * Builds a cause whose only donation, eight days old, was disbursed, in two parts if `first` is less than all of it.
 * Then the owner was erased, and the bank returned the first part, less any fee.
 */
export async function buildStrandedCause(stack: Stack, operators: Operators, first = 400_000): Promise<StrandedCause> {
  const waiting = await buildWaitingDisbursement(stack, String(first));
  const { owner, causeId, id } = waiting;
  const others = first < 400_000 ? [await askDisbursement(stack, owner, causeId, String(400_000 - first))] : [];
  const second = await secureSession(stack, (await buildSuperAdmin(stack)).id);
  for (const { id: withdrawalId, decisionId } of [waiting, ...others]) {
    for (const token of [operators.approver.token, second])
      expect((await stack.post(`/v1/decisions/${decisionId}/approve`, undefined, { token })).status).toBe(200);
    await withdrawalWhen(stack, owner, withdrawalId, 'succeeded');
  }
  const disbursements = [id, ...others.map((other) => other.id)];
  const { id: rest } = await withdraw(stack, owner);
  await withdrawalWhen(stack, owner, rest, 'succeeded');
  await stack.patch(`/v1/charitable-causes/${causeId}`, { status: 'cancelled' }, { token: owner.token });
  for (const withdrawalId of [...disbursements, rest]) await lookNoMore(stack, withdrawalId);
  const [donation] = await stack.em().execute<[{ id: string; account_id: string }]>(
    `select d.id, t.source_account_id as account_id from donations d join transactions t on t.id = d.transaction_id
         where d.cause_id = ?`,
    [causeId],
  );
  await withoutTriggers(
    stack,
    `update transactions t set created_at = t.created_at - interval '8 days' from donations d
       where d.id = ? and t.id = d.transaction_id`,
    [donation.id],
  );
  const back = { note: 'ticket 4711', kind: 'refund_donation', donation_id: donation.id };
  const early = await stack.post('/v1/decisions', back, { token: operators.proposer.token });
  expect([early.status, early.body.message]).toEqual([
    400,
    'donation_id: a donation can only be refunded within 7 days',
  ]);
  await erase(stack, operators, owner);
  await settleAtProvider(stack, id, 'REVERSED');
  await eventually(
    () => balanceOf(stack, owner.accountId),
    (balance) => balance !== '0.0000',
  );
  return { owner, causeId, disbursements, donorAccountId: donation.account_id, donationId: donation.id };
}
