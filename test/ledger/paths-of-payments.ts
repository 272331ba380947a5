import { payForMember } from '../../src/circles/standing-orders.ts';
import { charitableCauseDonate } from '../../src/giving/donations/charitable-cause-donate.ts';
import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { settlePayment } from '../../src/money-in/payments/settle-payment.ts';
import { newId } from '../../src/shared/ids.ts';
import { buildActiveCircle, circleWhen, contribute, memberIdsOf } from '../circles/build-circle.ts';
import { endInterval, openNextRound } from '../circles/end-interval.ts';
import { asAStep } from '../support/as-a-step.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { buildGoal, buildProduct } from '../support/build-targets.ts';
import { at, type MoneyPath } from './money-place.ts';

const fromBalance =
  (reference_type: string, reference_id: string, amount = 1000) =>
  () =>
    at.stack.post(
      '/v1/payments/balance',
      { reference_type, reference_id, source_account_id: at.person.accountId, amount },
      { token: at.person.token, headers: { 'idempotency-key': newId() } },
    );
/** Opens an order of `at.person`; returns a function that settles it. */
async function order(reference_type: string, reference_id: string, token = at.person.token, amount = 50_000) {
  const answer = await at.stack.post(
    '/v1/payments/gateway',
    { reference_type, reference_id, payment_id: 1, amount },
    { token },
  );
  return settling(answer.body.data.payment_order_id);
}
async function settling(orderId: string) {
  const [{ total }] = await at.stack
    .em()
    .execute<[{ total: string }]>('select (nominal + admin_fee)::text as total from payment_orders where id = ?', [
      orderId,
    ]);
  const payment = { providerPaymentId: `pay-${orderId}`, providerPaymentMethodId: `pm-${orderId}`, amount: total };
  return () => asAStep(() => settlePayment(at.stack.em(), { orderId, payment }, at.stack.deps));
}

/** Opens an order for a contribution. */
async function orderedContribution() {
  const { id, creator } = await buildActiveCircle(at.stack, 2, { terms: { guarantee_percent: 25 } });
  const { body } = await contribute(at.stack, creator, id, { payment_id: 1 });
  return settling(body.payment_order_id);
}
/** Creates a circle with a member who does not pay. */
async function defaulting(onDefault: string) {
  const terms = { on_default: onDefault, guarantee_percent: 100, grace_days: 1 };
  const { id, creator, members } = await buildActiveCircle(at.stack, 3, { terms });
  for (const member of members.slice(0, 2)) await contribute(at.stack, member, id);
  return async () => {
    await endInterval(at.stack, id);
    await circleWhen(at.stack, creator, id, { current_turn: 2 });
  };
}

/** Payments of people, from balances and by gateway, and their effects on goals and circles. */
export const pathsOfPayments: MoneyPath[] = [
  ['a donation from a balance', async () => fromBalance('charitable_cause_donate', at.cause.id)],
  [
    'an open donation from a balance',
    async () => fromBalance('charitable_cause_open_donate', systemAccounts.openDonationPool),
  ],
  [
    'a subscription that is opened',
    async () => () =>
      at.stack.post(
        '/v1/donations/subscriptions',
        { cause_id: at.cause.id, amount: '1000', source_account_id: at.person.accountId, interval: 'weekly' },
        { token: at.person.token },
      ),
  ],
  [
    'a goal from a balance',
    async () => fromBalance('saving_goal_contribution', (await buildGoal(at.stack, at.person)).id),
  ],
  [
    'a product with target from a balance',
    async () =>
      fromBalance(
        'investment',
        (await buildProduct(at.stack, at.superAdmin, { kind: 'investment', target: '1000' })).id,
      ),
  ],
  [
    'a product from a balance',
    async () => fromBalance('investment', (await buildProduct(at.stack, at.superAdmin, { kind: 'investment' })).id),
  ],
  [
    'a transfer',
    async () => {
      const other = (await at.stack.post('/v1/accounts', { name: 'Pocket' }, { token: at.person.token })).body;
      const id = other.data?.id ?? other.account?.id;
      return () =>
        at.stack.post(
          `/v1/accounts/${at.person.accountId}/transfers`,
          { destination_account_id: id, amount: '10' },
          { token: at.person.token },
        );
    },
  ],
  [
    'a contribution from a balance',
    async () => {
      const { id, creator } = await buildActiveCircle(at.stack, 2, { terms: { guarantee_percent: 25 } });
      return () => contribute(at.stack, creator, id);
    },
  ],
  [
    'a debit for a member',
    async () => {
      const { id, members } = await buildActiveCircle(at.stack, 2);
      const [memberId = ''] = await memberIdsOf(at.stack, id, members);
      return () => payForMember(at.stack.em(), { circleId: id, memberId, turn: 1, sourceAccountId: null });
    },
  ],
  ['a donation by gateway', async () => order('charitable_cause_donate', at.cause.id)],
  ['an open donation by gateway', async () => order('charitable_cause_open_donate', systemAccounts.openDonationPool)],
  ['a goal by gateway', async () => order('saving_goal_contribution', (await buildGoal(at.stack, at.person)).id)],
  [
    'a released goal by gateway',
    async () => {
      const { id } = await buildGoal(at.stack, at.person);
      const settle = await order('saving_goal_contribution', id);
      await at.stack.post(
        `/v1/saving-goals/${id}/release`,
        { account_id: at.person.accountId },
        { token: at.person.token },
      );
      return settle;
    },
  ],
  [
    'a product by gateway',
    async () =>
      order('investment', (await buildProduct(at.stack, at.superAdmin, { kind: 'investment', target: '50000' })).id),
  ],
  ['a top-up', async () => order('account_top_up', at.person.accountId)],
  ['a contribution by gateway', orderedContribution],
  [
    'the release of a goal',
    async () => {
      const { id } = await buildGoal(at.stack, at.person);
      await fromBalance('saving_goal_contribution', id)();
      return () =>
        at.stack.post(
          `/v1/saving-goals/${id}/release`,
          { account_id: at.person.accountId },
          { token: at.person.token },
        );
    },
  ],
  [
    'a pot',
    async () => {
      const { id, creator, members } = await buildActiveCircle(at.stack, 2);
      await contribute(at.stack, creator, id);
      return async () => {
        await contribute(at.stack, members[1] as BuiltUser, id);
        await circleWhen(at.stack, creator, id, { current_turn: 2 });
      };
    },
  ],
  [
    'the last pot',
    async () => {
      const { id, creator, members } = await buildActiveCircle(at.stack, 2, { terms: { guarantee_percent: 25 } });
      for (const member of members) await contribute(at.stack, member, id);
      await circleWhen(at.stack, creator, id, { current_turn: 2 });
      await openNextRound(at.stack, id);
      await circleWhen(at.stack, creator, id, { next_round_opens_at: null });
      await contribute(at.stack, creator, id);
      return async () => {
        await contribute(at.stack, members[1] as BuiltUser, id);
        await circleWhen(at.stack, creator, id, { status: 'completed' });
      };
    },
  ],
  ['a round that guarantees cover', () => defaulting('cover')],
  ['an exclusion', () => defaulting('exclude')],
  [
    'a cancelled circle',
    async () => {
      const { id, members } = await buildActiveCircle(at.stack, 3, { terms: { guarantee_percent: 50 } });
      for (const member of members.slice(0, 2)) await contribute(at.stack, member, id);
      return () => at.stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token: at.superAdmin.token });
    },
  ],
];

/** Payments written in one statement. */
export const donateTogether: MoneyPath = [
  'donations together',
  async () => {
    const donors = await Promise.all(Array.from({ length: 5 }, () => buildIndividual(at.stack, { balance: '1000' })));
    return () =>
      Promise.all(
        donors.map(({ id, accountId }) =>
          at.stack.deps.payTogether(charitableCauseDonate, {
            payer: { userId: id, userType: 'individual', organizationId: null },
            transactionId: newId(),
            referenceId: at.cause.id,
            sourceAccountId: accountId,
            amount: '10',
            requestId: null,
          }),
        ),
      );
  },
];
