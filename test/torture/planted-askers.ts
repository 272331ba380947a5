import { must } from '../../src/shared/assert.ts';
import { attempt, bankAccount, webhook } from './build-facts.ts';
import type { EffectEvent, Facts } from './facts.ts';

const found = <T>(list: readonly T[], is: (one: T) => boolean): T => must(list.find(is), 'the healthy facts have it');
const attemptOf = ({ attempts }: Facts, id: string) => found(attempts, ({ requestId }) => requestId === id);
const transferOf = ({ transfers }: Facts, id: string) => found(transfers, ({ reference }) => reference === id);
const journalOf = ({ journals }: Facts, key: string) => found(journals, ({ businessKey }) => businessKey === key);

/** The effect of a request on the resource that it finishes. */
const ending = (requestId: string, resourceType: string, resourceId: string, actorId: string | null): EffectEvent => ({
  requestId,
  event: 'RESOURCE_UPDATED',
  impact: 'MEDIUM',
  resourceType,
  resourceId,
  actorId,
  begunAt: 1_400,
  at: 1_500,
});

/** A closed goal, and two requests to release it: the second was refused. */
function releaseTwice({ attempts, ends }: Facts, first: number | null): void {
  const asked = { operation: 'o30', kind: 'release', key: null, target: 'goal-2', by: 'user-1' } as const;
  attempts.push(
    attempt({ ...asked, requestId: 'r30', status: first }),
    attempt({ ...asked, requestId: 'r31', status: 400, resourceId: null }),
  );
  ends.push({ kind: 'goal', id: 'goal-2', status: 'closed' });
}

/** A circle cancelled by the first of two requests; the second was refused. */
function cancelTwice({ attempts, events, ends }: Facts): void {
  const asked = { operation: 'o31', kind: 'cancel-circle', key: null, target: 'circle-2', by: 'person-1' } as const;
  attempts.push(
    attempt({ ...asked, requestId: 'r32' }),
    attempt({ ...asked, requestId: 'r33', status: 400, resourceId: null }),
  );
  events.push(ending('r32', 'saving_circle', 'circle-2', 'person-1'));
  ends.push({ kind: 'circle', id: 'circle-2', status: 'cancelled' });
}

/** Violations of permissions and of the destinations of money, planted in a healthy run. */
export const plantedAskers: [oracle: string, violation: string, plant: (facts: Facts) => void, says: string][] = [
  [
    'transfers-go-where-asked',
    'a payout goes to the bank account of another',
    (facts) => {
      transferOf(facts, 'payout-1').goesTo = bankAccount(2);
    },
    'goes to 00000002000011',
  ],
  [
    'transfers-go-where-asked',
    'a withdrawal goes to the right account in the name of another holder',
    (facts) => {
      transferOf(facts, 'withdrawal-1').goesTo = { ...bankAccount(2), holder: 'Budi Santoso 1' };
    },
    'of Budi Santoso 1',
  ],
  [
    'transfers-go-where-asked',
    'a refund goes to a bank account that no request named',
    (facts) => {
      attemptOf(facts, 'r15').goesTo = null;
    },
    'was to go to no bank account',
  ],
  [
    'doers-are-the-askers',
    'a resource that one partner requested belongs to another, and so do its webhooks',
    ({ payouts, deliveries, webhooks }) => {
      found(payouts, ({ id }) => id === 'payout-1').partnerId = 'partner-2';
      found(deliveries, ({ resourceId }) => resourceId === 'payout-1').partnerId = 'partner-2';
      webhooks.push(webhook({ signedBy: 'partner-2' }));
    },
    'was sent by partner-1, and payout-1 belongs to partner-2',
  ],
  [
    'doers-are-the-askers',
    'a payment by a partner’s customer belongs to another partner',
    ({ orders }) => {
      found(orders, ({ id }) => id === 'payment-4').partnerId = 'partner-2';
    },
    'payment-4 belongs to partner-2',
  ],
  [
    'doers-are-the-askers',
    'an order that a user requested belongs to a partner',
    ({ orders }) => {
      found(orders, ({ id }) => id === 'order-1').partnerId = 'partner-1';
    },
    'was sent by a user, and order-1 belongs to partner-1',
  ],
  [
    'doers-are-the-askers',
    'a user’s request is recorded without an actor',
    (facts) => {
      attemptOf(facts, 'r4').by = 'user-1';
    },
    'names nobody',
  ],
  [
    'doers-are-the-askers',
    'a partner’s request is recorded with a user as its actor',
    ({ events }) => {
      found(events, ({ requestId }) => requestId === 'r1').actorId = 'user-1';
    },
    'was sent by a partner',
  ],
  [
    'doers-are-the-askers',
    'a cancellation by one user is recorded in the name of another',
    (facts) => {
      attemptOf(facts, 'r8').by = 'user-1';
      facts.events.push(ending('r8', 'payment_order', 'payment-3', 'user-2'));
    },
    'names user-2',
  ],
  [
    'webhooks-arrive',
    'a partner gets a webhook about another’s resource',
    ({ deliveries, webhooks }) => {
      for (const one of deliveries) if (one.resourceId === 'payout-1') one.partnerId = 'partner-2';
      for (const one of webhooks) if (one.body.includes('payout-1')) one.signedBy = 'partner-2';
    },
    'is for partner-2, and it belongs to partner-1',
  ],
  [
    'money-lands-where-asked',
    'a payout takes another partner’s money',
    (facts) => {
      journalOf(facts, 'partner-payout/payout-1/reserved').debited = ['account-2'];
    },
    'to be paid by account-5, and account-2 paid',
  ],
  [
    'money-lands-where-asked',
    'a partner’s payout is held on another’s account',
    (facts) => {
      journalOf(facts, 'partner-payout/payout-1/reserved').credited = ['account-2'];
    },
    'was for account-6, and account-2 has it',
  ],
  [
    'money-lands-where-asked',
    'a payout is paid from money held for another',
    (facts) => {
      journalOf(facts, 'partner-payout/payout-1/spent').debited = ['account-8'];
    },
    'payout-1/spent: it was to be paid by account-6',
  ],
  [
    'money-lands-where-asked',
    'a withdrawal takes another user’s money, and the bank returns it there',
    (facts) => {
      journalOf(facts, 'withdrawal/withdrawal-1/reserved').debited = ['account-2'];
      journalOf(facts, 'withdrawal/withdrawal-1/reversed').credited = ['account-2'];
    },
    'to be paid by account-7, and account-2 paid',
  ],
  [
    'money-lands-where-asked',
    'a customer’s payment is credited to another partner',
    (facts) => {
      journalOf(facts, 'partner-payment/payment-4/settled').credited = ['account-2'];
    },
    'was for account-9, and account-2 has it',
  ],
  [
    'money-lands-where-asked',
    'a customer’s payment is released to another partner',
    (facts) => {
      journalOf(facts, 'partner-payment/payment-4/released').credited = ['account-2'];
    },
    'was for account-5, and account-2 has it',
  ],
  [
    'refused-has-no-effect',
    'a circle is cancelled for a refused request',
    (facts) => {
      cancelTwice(facts);
      facts.events.push(ending('r33', 'saving_circle', 'circle-2', 'person-1'));
    },
    'RESOURCE_UPDATED of saving_circle circle-2',
  ],
  [
    'refused-has-no-effect',
    'a goal is released for a refused request',
    (facts) => {
      releaseTwice(facts, 200);
      facts.events.push(ending('r31', 'saving_goal', 'goal-2', 'user-1'));
    },
    'RESOURCE_UPDATED of saving_goal goal-2',
  ],
  [
    'ends-are-kept',
    'a goal is closed although every request to release it was refused',
    (facts) => releaseTwice(facts, 400),
    'goal-2 is closed',
  ],
];

/** Valid variations, after which the run is still healthy. */
export const rightAskers: [what: string, make: (facts: Facts) => void][] = [
  ['a circle cancelled by the first of two requests', cancelTwice],
  [
    'a goal released by a request whose answer was lost, and refused to the next as closed',
    (facts) => releaseTwice(facts, null),
  ],
];
