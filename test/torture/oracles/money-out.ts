import { addMoney, compareMoney, type Money } from '../../../src/shared/money.ts';
import type { ToldFact, VerdictFact } from '../decision-facts.ts';
import type { Facts, Finding, WithdrawalFact } from '../facts.ts';

/**
 * The money that has left or is reserved, IDR: a failed payout returned all, a reversed one all but the fee.
 */
function leftBy({ payouts }: Facts): (withdrawal: WithdrawalFact) => Money {
  const standing = new Map(payouts.map((payout) => [payout.id, payout]));
  return ({ id, amount }) => {
    const payout = standing.get(id);
    if (payout?.status === 'failed') return '0.0000';
    return payout?.status === 'reversed' ? payout.fee : amount;
  };
}

const total = (withdrawals: readonly WithdrawalFact[], amountOf: (withdrawal: WithdrawalFact) => Money): Money =>
  addMoney('0', ...withdrawals.map(amountOf));

/**
 * No user withdrew more than the daily limit (a run is shorter than a day), even with concurrent requests, and no cause
 * disbursed more than it was given.
 */
export function withdrawalsStayWithin(facts: Facts): Finding[] {
  const oracle = 'withdrawals-stay-within';
  const { withdrawals, payouts, given, dailyLimit } = facts;
  const failed = new Set(payouts.filter(({ status }) => status === 'failed').map(({ id }) => id));
  const counted = withdrawals.filter(({ id, causeId }) => causeId === null && !failed.has(id));
  const overLimit = [...Map.groupBy(counted, ({ userId }) => userId)].flatMap(([userId, own]): Finding[] => {
    const used = total(own, ({ amount }) => amount);
    const says = `the user ${userId} has withdrawn ${used}, more than the day's ${dailyLimit}`;
    return compareMoney(used, dailyLimit) > 0 ? [{ oracle, resourceId: own.at(-1)?.id ?? null, says }] : [];
  });
  const disbursements = withdrawals.filter(({ causeId }) => causeId !== null);
  const overGiven = [...Map.groupBy(disbursements, ({ causeId }) => causeId ?? '')].flatMap(
    ([causeId, own]): Finding[] => {
      const gone = total(own, leftBy(facts));
      const had = given[causeId] ?? '0';
      const says = `the cause ${causeId} received ${had}, and ${gone} was disbursed`;
      return compareMoney(gone, had) > 0 ? [{ oracle, resourceId: own.at(-1)?.id ?? null, says }] : [];
    },
  );
  return [...overLimit, ...overGiven];
}

/** Whether a request about a decision was carried out or has an unknown outcome. */
export const mayHaveDone = ({ status }: ToldFact): boolean => status === null || status < 400 || status >= 500;

/** A disbursement that needs approval is sent only after two people approved it, and never after a rejection. */
export function disbursementsAreApproved({ withdrawals, payouts, transfers, verdicts }: Facts): Finding[] {
  const oracle = 'disbursements-are-approved';
  const sent = new Set(transfers.map(({ reference }) => reference));
  const statusOf = new Map(payouts.map(({ id, status }) => [id, status]));
  const said = Map.groupBy(verdicts, ({ withdrawalId }) => withdrawalId);
  const peopleOf = (id: string, verdict: VerdictFact['verdict']) =>
    new Set((said.get(id) ?? []).filter((one) => one.verdict === verdict && mayHaveDone(one)).map(({ by }) => by)).size;
  return withdrawals.flatMap(({ id, waits }): Finding[] => {
    const status = statusOf.get(id);
    const find = (says: string) => [{ oracle, resourceId: id, says: `the disbursement ${id} ${says}` }];
    const isSent = sent.has(id) || status === 'succeeded' || status === 'reversed';
    if (waits && isSent && peopleOf(id, 'approve') < 2) {
      return find(`was sent, approved by ${peopleOf(id, 'approve')}`);
    }
    const isRejected = (said.get(id) ?? []).some(({ told }) => told === 'rejected');
    if (isRejected && (isSent || status !== 'failed')) return find(`was rejected, and is ${status}`);
    const isDecided = payouts.some((payout) => payout.id === id && payout.isDecided);
    if (isDecided && peopleOf(id, 'reject') === 0) return find('failed by a decision, but nobody rejected it');
    return [];
  });
}
