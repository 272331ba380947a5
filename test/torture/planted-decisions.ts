import { must } from '../../src/shared/assert.ts';
import { approval, journal } from './build-facts.ts';
import type { Facts } from './facts.ts';

const found = <T>(list: readonly T[], is: (one: T) => boolean): T => must(list.find(is), 'the healthy facts have it');

/** Refunds the money in suspense by a decision. */
function giveBack({ receipts, money, lists, decisions, decided }: Facts, changes: Partial<Facts['decisions'][number]>) {
  found(receipts, ({ id }) => id === 'receipt-2').state = 'refunded';
  money.after = '134000.0000';
  lists.suspense = [];
  lists.receipts = [];
  lists.waiting = lists.waiting.filter(({ what }) => what !== 'suspended_receipts');
  const [decisionId, proposedBy] = ['decision-1', 'person-1'];
  const about = { receiptId: 'receipt-2', action: 'refund', accountId: null } as const;
  decisions.push({ decisionId, proposedBy, ...about, approvals: [approval({})], ...changes });
  decided.push({ id: decisionId, withdrawalId: null, proposedBy, approvedBy: ['person-2'], rejectedBy: null });
}

/** Violations of decisions by two people, planted in a healthy run. */
export const plantedDecisions: [oracle: string, violation: string, plant: (facts: Facts) => void, says: string][] = [
  [
    'decisions-are-kept',
    'money in suspense is refunded although its approver was refused',
    (facts) => giveBack(facts, { approvals: [approval({ status: 403, told: '403' })] }),
    'without a decision by two people',
  ],
  [
    'decisions-are-kept',
    'money in suspense is refunded by its proposer alone',
    (facts) => giveBack(facts, { proposedBy: 'person-2' }),
    'without a decision by two people',
  ],
  [
    'decisions-are-kept',
    'one person has proposed and approved',
    (facts) => {
      giveBack(facts, {});
      found(facts.decided, ({ id }) => id === 'decision-1').approvedBy = ['person-1'];
    },
    'names one person for two steps',
  ],
  [
    'decisions-are-kept',
    'one person has approved twice',
    ({ decided }) => {
      for (const one of decided) one.approvedBy = ['person-1', 'person-1'];
    },
    'names one person for two steps',
  ],
  [
    'decisions-are-kept',
    'a decision names as its approver somebody who was refused',
    ({ verdicts }) => {
      Object.assign(
        found(verdicts, ({ by }) => by === 'person-2'),
        { status: 400, told: '400' },
      );
    },
    'names person-2 as an approver',
  ],
  [
    'decisions-are-kept',
    'a decision names a rejecter who did not reject it',
    ({ decided }) => {
      for (const one of decided) one.rejectedBy = 'person-2';
    },
    'names person-2 as its rejecter',
  ],
  [
    'decisions-are-kept',
    'a decision names another proposer',
    (facts) => {
      giveBack(facts, {});
      found(facts.decided, ({ id }) => id === 'decision-1').proposedBy = 'person-3';
    },
    'was proposed by person-1, and names person-3',
  ],
  [
    'disbursements-are-approved',
    'a disbursement is sent although its second approver was refused',
    ({ verdicts }) => {
      Object.assign(
        found(verdicts, ({ by }) => by === 'person-2'),
        { status: 403, told: '403' },
      );
    },
    'approved by 1',
  ],
  [
    'donations-are-given-back',
    'a donation is refunded although its approver was refused',
    ({ attempts, refundDecisions }) => {
      for (const one of attempts) if (one.kind === 'refund-donation') one.status = 400;
      const approvals = [approval({ status: 400, told: '400' })];
      refundDecisions.push({ decisionId: 'decision-2', donationId: 'donation-1', proposedBy: 'person-1', approvals });
    },
    'which nobody requested',
  ],
];

/** Valid variations, after which the run is still healthy. */
export const rightDecisions: [what: string, make: (facts: Facts) => void][] = [
  [
    'money refunded by two people, after the proposer tried to approve and was refused',
    (facts) => giveBack(facts, { approvals: [approval({ by: 'person-1', status: 403, told: '403' }), approval({})] }),
  ],
  [
    'money refunded by an approval whose answer was lost',
    (facts) => giveBack(facts, { approvals: [approval({ status: null, told: null })] }),
  ],
  [
    'money refunded by a decision reported as approved and not executed yet',
    (facts) => giveBack(facts, { approvals: [approval({ status: 503, told: '503' })] }),
  ],
  [
    'a decision whose answer was lost and that nobody approved',
    ({ decided }) => {
      decided.push({ id: 'd-3', withdrawalId: null, proposedBy: 'person-1', approvedBy: [], rejectedBy: null });
    },
  ],
  [
    'a disbursement that one person approved, and then rejected',
    (facts) => {
      const { payouts, decided, verdicts, withdrawals, attempts, asked, journals } = facts;
      const id = 'withdrawal-2';
      const payout = found(payouts, (one) => one.id === 'withdrawal-1');
      payouts.push({ ...payout, id, status: 'failed', version: 0, isDecided: true });
      withdrawals.push({ ...found(withdrawals, () => true), id });
      attempts.push({ ...found(attempts, ({ requestId }) => requestId === 'r13'), requestId: 'r34', operation: 'o34' });
      asked.push({ kind: 'payout', id, requestId: 'r34' });
      journals.push(
        journal(`withdrawal/${id}/reserved`, '72500.0000', { from: 'account-7', to: 'account-8' }),
        journal(`withdrawal/${id}/returned`, '72500.0000', { from: 'account-8', to: 'account-7' }),
      );
      verdicts.push(
        { withdrawalId: id, verdict: 'approve', ...approval({ told: 'pending' }) },
        { withdrawalId: id, verdict: 'reject', ...approval({ told: 'rejected' }) },
      );
      const people = { proposedBy: 'user-1', approvedBy: ['person-2'], rejectedBy: 'person-2' };
      decided.push({ id: 'd-4', withdrawalId: id, ...people });
    },
  ],
];
