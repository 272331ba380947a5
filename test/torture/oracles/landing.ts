import { subscriptionPaymentIdFor } from '../../../src/shared/ids.ts';
import { compareMoney } from '../../../src/shared/money.ts';
import type { Decided } from '../decision-facts.ts';
import type { Attempt, Facts, Finding } from '../facts.ts';
import { moneyOfAskersMoves } from './destinations.ts';
import { mayHaveDone } from './money-out.ts';

const isSuccess = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300;

/** The key of the journal of a request's resource; other kinds have no such journal. */
const journalOf: Partial<Record<Attempt['kind'], (id: string) => string>> = {
  balance: (id) => `balance-payment/${id}`,
  transfer: (id) => `balance-payment/${id}`,
  gateway: (id) => `payment-order/${id}/settled`,
  allocation: (id) => `donation-allocation/${id}`,
  // The payment of the first period.
  subscription: (id) => `balance-payment/${subscriptionPaymentIdFor(id, 0)}`,
};

/**
 * Money was debited from the requested account and credited to the target's account, as known before the faults.
 */
export function moneyLandsWhereAsked(facts: Facts): Finding[] {
  return [...paymentsLandWhereAsked(facts), ...moneyOfAskersMoves(facts)];
}

function paymentsLandWhereAsked({ attempts, journals, orders, accounts, released }: Facts): Finding[] {
  const posted = new Map(journals.map((journal) => [journal.businessKey, journal]));
  const unpaid = new Set(orders.filter(({ status }) => status !== 'PAID').map(({ id }) => id));
  return attempts.filter(isSuccess).flatMap(({ kind, resourceId, requestId, target, source }) => {
    const key = journalOf[kind]?.(resourceId ?? '');
    if (key === undefined || unpaid.has(resourceId ?? '')) return [];
    const find = (says: string) => [
      { oracle: 'money-lands-where-asked', resourceId, says: `${kind} ${requestId}: ${says}` },
    ];
    const journal = posted.get(key);
    if (journal === undefined) return find(`there is no journal ${key}`);
    const [wanted, credited] = [accounts[target ?? ''] ?? target, journal.credited.join(', ')];
    // An order for a goal closed since is credited to the account that the goal was released to.
    const isReleased = kind === 'gateway' && target !== null && released[target] === credited;
    if (credited !== wanted && !isReleased)
      return find(`its money was for ${wanted}, and ${credited || 'nobody'} has it`);
    const debited = journal.debited.join(', ');
    return debited === (source ?? '') ? [] : find(`it was to be paid by ${source ?? 'nobody'}, and ${debited} paid`);
  });
}

/** Each fee charged is the fee agreed in advance. */
export function feesAreAsAgreed({ made }: Facts): Finding[] {
  return made
    .filter(({ fee, dueFee }) => fee !== null && compareMoney(fee, dueFee ?? '0') !== 0)
    .map(({ id, fee, dueFee }) => ({
      oracle: 'fees-are-as-agreed',
      resourceId: id,
      says: `${id} has a fee of IDR ${fee} instead of the agreed IDR ${dueFee ?? '0'}`,
    }));
}

/** Whether someone other than its proposer may have approved it. */
export const mayBeApproved = ({ proposedBy, approvals }: Decided): boolean =>
  approvals.some((told) => told.by !== proposedBy && mayHaveDone(told));

export const isCarriedOut = ({ approvals }: Decided): boolean => approvals.some(({ told }) => told === 'carried_out');

const stateOf = { credit: 'credited', refund: 'refunded' } as const;

/**
 * Money in suspense was settled only as two people decided, and the books name the right people, all different, as the
 * proposer, approvers and rejecter of each decision.
 */
export function decisionsAreKept(facts: Facts): Finding[] {
  const { receipts, decisions } = facts;
  const oracle = 'decisions-are-kept';
  const unasked = receipts
    .filter(({ state }) => state === 'credited' || state === 'refunded')
    .filter(
      ({ id, state, creditedTo }) =>
        !decisions.some(
          (decision) =>
            decision.receiptId === id &&
            mayBeApproved(decision) &&
            stateOf[decision.action] === state &&
            (decision.action === 'refund' || decision.accountId === creditedTo),
        ),
    )
    .map(({ id, reference, state, creditedTo }) => ({
      oracle,
      resourceId: reference,
      says: `the receipt ${id} is ${state}${creditedTo ? ` to ${creditedTo}` : ''}, without a decision by two people`,
    }));
  const unkept = decisions.filter(isCarriedOut).flatMap(({ receiptId, action, decisionId }) => {
    const receipt = receipts.find(({ id }) => id === receiptId);
    if (receipt?.state === stateOf[action]) return [];
    const says = `the decision ${decisionId} to ${action} the receipt ${receiptId} was carried out, but its state is ${receipt?.state ?? 'missing'}`;
    return [{ oracle, resourceId: receipt?.reference ?? receiptId, says }];
  });
  return [...unasked, ...unkept, ...misnamed(facts)];
}

/** Finds decisions that name the wrong people: a refused request decides nothing. */
function misnamed({ decisions, refundDecisions, decided, verdicts }: Facts): Finding[] {
  const known = new Map([...decisions, ...refundDecisions].map((decision) => [decision.decisionId, decision]));
  return decided.flatMap(({ id, withdrawalId, proposedBy, approvedBy, rejectedBy }): Finding[] => {
    const find = (says: string) => [
      { oracle: 'decisions-are-kept', resourceId: withdrawalId ?? id, says: `the decision ${id} ${says}` },
    ];
    const isOfOne = [...approvedBy, rejectedBy].includes(proposedBy) || new Set(approvedBy).size < approvedBy.length;
    if (isOfOne) return find(`names one person for two steps: ${proposedBy}, ${approvedBy.join(', ')}`);
    const own = known.get(id);
    if (own !== undefined && own.proposedBy !== proposedBy) {
      return find(`was proposed by ${own.proposedBy}, and names ${proposedBy}`);
    }
    const said = (verdict: 'approve' | 'reject') => [
      ...(verdict === 'approve' ? (own?.approvals ?? []) : []),
      ...verdicts.filter((one) => one.withdrawalId === withdrawalId && one.verdict === verdict),
    ];
    const unasked = (names: readonly (string | null)[], verdict: 'approve' | 'reject') =>
      names.find((name) => name !== null && !said(verdict).some((told) => told.by === name && mayHaveDone(told)));
    // A decision whose proposal got no answer is unknown to the run, and nobody approves it.
    const approver = unasked(approvedBy, 'approve');
    if (approver !== undefined) return find(`names ${approver} as an approver, who did not approve it`);
    const rejecter = unasked([rejectedBy], 'reject');
    return rejecter === undefined ? [] : find(`names ${rejecter} as its rejecter, who did not reject it`);
  });
}
