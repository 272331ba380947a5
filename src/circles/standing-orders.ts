import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import { Account } from '../ledger/accounts/account.entity.ts';
import { lockSource } from '../ledger/lock-order.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { payFromBalance } from '../money-in/payments/pay-from-balance.ts';
import { readPayer } from '../people/identity/read-payer.ts';
import { recordAction } from '../platform/events/record-event.ts';
import { presentFields } from '../platform/http/present-fields.ts';
import { isVerdict } from '../platform/openings/open-once.ts';
import { forEachOf } from '../shared/concurrency.ts';
import { refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { circlePaymentIdFor } from '../shared/ids.ts';
import { isFinal } from '../shared/status-law.ts';
import { type AskingForPlace, getPlace, lockLiveCircle, recordChange, shareCircle } from './change-circle.ts';
import { CircleMember } from './circle-member.entity.ts';
import { findPositions } from './find-positions.ts';
import { type Debit, findDueOrders } from './find-progress.ts';
import { StandingOrderAnswer } from './present-circle.ts';
import { SavingCircle } from './saving-circle.entity.ts';
import { circleLaw } from './saving-circle.ts';
import { savingCircleContribution } from './saving-circle-contribution.ts';
import { guaranteeOf } from './terms.ts';

type StandingOrder = z.input<typeof StandingOrderAnswer>;

const columns = 'id as member_id, source_account_id, amount::text, guarantee_amount::text, created_at';

const present = (order: StandingOrder): StandingOrder =>
  presentFields(StandingOrderAnswer.shape, { ...order, created_at: new Date(order.created_at) });

/** Maximum standing orders paid per step. */
const paidAtOnce = 50;

/**
 * Sets a standing order, replacing an earlier one: when a round opens, the account pays the contribution as it is now,
 * the first time with the guarantee. Throws NOT_FOUND; FORBIDDEN if the caller is not the member or the account is
 * someone else's; REQUEST_INVALID once the circle has ended or excluded the member.
 */
export function setStandingOrder(
  em: EntityManager,
  ordering: AskingForPlace & { sourceAccountId: string },
): Promise<StandingOrder> {
  const { caller, circleId, memberId, sourceAccountId } = ordering;
  return em.transactional(async (tx) => {
    const { member, circle } = await getOwnPlace(tx, ordering);
    const account = await tx.findOne(Account, { id: sourceAccountId });
    if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'source_account_id' });
    if (!mayUseAccount(caller, account))
      refuse('FORBIDDEN', 'the account is not yours', { field: 'source_account_id' });
    const [order] = await tx.execute<[StandingOrder]>(
      `insert into saving_circle_standing_orders as o (id, source_account_id, amount, guarantee_amount, attempted_turn)
       select ?::uuid, ?::uuid, amount, case when exists (select from saving_circle_contributions c
           where c.member_id = ? and c.status = 'completed' and c.guarantee_amount > 0) then 0 else ?::numeric end,
         case when status = 'active' and next_opens_at is null then current_turn end
       from saving_circles where id = ?
       on conflict (id) do update set source_account_id = excluded.source_account_id, amount = excluded.amount,
         guarantee_amount = excluded.guarantee_amount
       returning ${columns}`,
      [memberId, sourceAccountId, memberId, guaranteeOf(circle, circle.amount), circleId],
    );
    const { amount, guarantee_amount } = order;
    const kept = { standing_order: sourceAccountId, member_id: member.id, amount, guarantee_amount };
    await recordChange(tx, circleId, kept, { by: ordering });
    return present(order);
  });
}

/**
 * Cancels a member's standing order and returns it. Throws as `setStandingOrder` does, and NOT_FOUND if there is none.
 */
export function endStandingOrder(em: EntityManager, ordering: AskingForPlace): Promise<StandingOrder> {
  return em.transactional(async (tx) => {
    const { member } = await getOwnPlace(tx, ordering);
    const [ended] = await tx.execute<StandingOrder[]>(
      `delete from saving_circle_standing_orders where id = ? returning ${columns}`,
      [member.id],
    );
    if (ended === undefined) refuse('NOT_FOUND', 'the standing order was not found', { field: 'member_id' });
    await recordChange(tx, ordering.circleId, { standing_order: null, member_id: member.id }, { by: ordering });
    return present(ended);
  });
}

/** Cancels every standing order of the user in the caller's transaction, and records an event for each. */
export async function endStandingOrdersOf(
  tx: EntityManager,
  { userId, requestId }: { userId: string; requestId: string },
): Promise<void> {
  await tx.execute(
    `select from saving_circles where id = any (array(select m.saving_circle_id from saving_circle_members m
       join saving_circle_standing_orders o on o.id = m.id where m.user_id = ?)) order by id for update`,
    [userId],
  );
  const ended = await tx.execute<{ member_id: string; circle_id: string }[]>(
    `delete from saving_circle_standing_orders o using saving_circle_members m where m.id = o.id and m.user_id = ?
     returning m.id as member_id, m.saving_circle_id as circle_id`,
    [userId],
  );
  for (const { member_id, circle_id } of ended) {
    const by = { actorId: userId, requestId };
    await recordAction(tx, by, 'RESOURCE_UPDATED', ['saving_circle', circle_id], { standing_order: null, member_id });
  }
}

async function getOwnPlace(
  tx: EntityManager,
  ordering: AskingForPlace,
): Promise<{ member: CircleMember; circle: SavingCircle }> {
  const circle = await lockLiveCircle(tx, ordering.circleId);
  const member = await getPlace(tx, circle, ordering);
  if (member.user_id !== ordering.caller.userId) {
    refuse('FORBIDDEN', 'only the member can set or cancel a standing order', { field: 'member_id' });
  }
  if (isFinal(circleLaw, circle.status) || member.excluded_turn) {
    refuse('REQUEST_INVALID', 'no further round will open for this member', { field: 'id' });
  }
  return { member, circle };
}

/**
 * Pays a batch of standing orders, each tried once in its own transaction: if the balance is too low or the amount due
 * differs, the member must pay. Throws after the batch if one could not be tried.
 */
export async function payStandingOrders(em: EntityManager, circleId: string): Promise<void> {
  await forEachOf(await findDueOrders(em, circleId, { limit: paidAtOnce }), async (debit) => {
    await payForMember(em.fork(), { circleId, ...debit });
    await failpoint('pay-standing-orders.paid');
    // If the order was changed to another account in the meantime, that account is tried too.
    await em.execute(
      'update saving_circle_standing_orders set attempted_turn = ? where id = ? and source_account_id = ?',
      [debit.turn, debit.memberId, debit.sourceAccountId],
    );
  });
}

/**
 * Debits members who have received the pot but have not paid this round, each in its own transaction. Records the
 * attempt last, so that an interrupted one is repeated.
 */
export async function debitMembers(em: EntityManager, circleId: string, now: Date): Promise<void> {
  const { current_turn: turn } = await em.findOneOrFail(SavingCircle, { id: circleId }, { refresh: true });
  const owing = (await findPositions(em, circleId)).filter((place) => place.has_received && !place.has_paid);
  await forEachOf(owing, ({ member_id: memberId }) =>
    payForMember(em.fork(), { circleId, memberId, turn, sourceAccountId: null }),
  );
  await failpoint('debit-members.debited');
  await em.execute('update saving_circle_rounds set remedied_at = ? where saving_circle_id = ? and turn_number = ?', [
    now,
    circleId,
    turn,
  ]);
}

/**
 * Pays a member's contribution as agreed in advance: a balance payment in its own transaction, at most once per turn. A
 * refusal (low balance, suspended member, round over) changes nothing.
 */
export async function payForMember(
  em: EntityManager,
  { circleId, memberId, turn, sourceAccountId }: Debit & { circleId: string },
): Promise<void> {
  try {
    await em.transactional(async (tx) => {
      const member = await tx.findOneOrFail(CircleMember, { id: memberId }, { refresh: true });
      const payer = await readPayer(tx, member.user_id);
      const source = sourceAccountId ?? member.account_id;
      await lockSource(tx, { payer, sourceAccountId: source });
      const circle = await shareCircle(tx, circleId);
      // Consent to debit the member's account is permanent, but a standing order may have been changed to another
      // account.
      const due = sourceAccountId === null ? [] : await findDueOrders(tx, circleId, { limit: 1, memberId });
      if (circle.current_turn !== turn || (due[0]?.sourceAccountId ?? null) !== sourceAccountId) return;
      await payFromBalance(tx, savingCircleContribution, {
        payer,
        transactionId: circlePaymentIdFor(memberId, turn),
        referenceId: circleId,
        sourceAccountId: source,
        amount: circle.amount,
        requestId: null,
      });
    });
  } catch (error) {
    if (!isVerdict(error)) throw error;
  }
}
