import { settlePartnerPayment } from '../../src/money-in/collections/settle-partner-payment.ts';
import { newId } from '../../src/shared/ids.ts';
import { give } from '../giving/donations/build-donations.ts';
import { batchWhen, buildSecondKey, itemsOf, makeBatch } from '../money-out/payout-batches/build-batches.ts';
import {
  ageAttempts,
  magicAccount,
  pay,
  payoutWhen,
  settleAtProvider,
  transfersOf,
} from '../money-out/payouts/build-payouts.ts';
import { buildPaid, refund, refundWhen } from '../money-out/refunds/build-refunds.ts';
import { addBankAccount, ask, buildOwner, withdrawalWhen } from '../money-out/withdrawals/build-withdrawals.ts';
import { asAStep } from '../support/as-a-step.ts';
import { decide } from '../support/decide.ts';
import { eventually } from '../support/stack.ts';
import { suspendedUnder } from '../support/suspended-receipt.ts';
import { at, type MoneyPath } from './money-place.ts';

/** Requests a disbursement of an amount in IDR from the cause. */
const disburse = (bank_account_id: string, amount: string) =>
  ask(at.stack, at.organization, {
    bank_account_id,
    amount,
    cause_id: at.cause.id,
    purpose_note: 'Two pumps and pipes',
  });

/** Money of partners, payouts, refunds, allocations, and decisions of two people. */
export const pathsOfPayouts: MoneyPath[] = [
  [
    'a payment of a partner',
    async () => {
      const { id } = (await at.partner.post('/payments', { method: 'qris', amount: '20000' })).body.data;
      const payment = { providerPaymentId: `pay-${id}`, providerPaymentMethodId: `pm-${id}`, amount: '20000.0000' };
      return () => asAStep(() => settlePartnerPayment(at.stack.em(), at.stack.deps, { paymentId: id, payment }));
    },
  ],
  [
    'a payment to a reusable instrument',
    async () => {
      const body = { method: 'virtual_account', channel: 'BCA' };
      const { id, payment_code } = (await at.partner.post('/instruments', body)).body.data;
      return async () => {
        await at.stack.sandbox.post('/sandbox/pay', { payment_code, amount: 20_000 });
        await eventually(
          async () => (await at.partner.get(`/payments?instrument_id=${id}`)).body.data.total,
          (total) => total === 1,
        );
      };
    },
  ],
  [
    'a payout',
    async () => {
      await buildPaid(at.stack, at.partner);
      return async () => payoutWhen(at.partner, (await pay(at.partner)).id, 'succeeded');
    },
  ],
  [
    'a batch of payouts',
    async () => {
      await buildPaid(at.stack, at.partner);
      const { id } = await makeBatch(at.partner, itemsOf(2, { amount: '10000' }));
      const approve = await buildSecondKey(at.stack, at.partner);
      return async () => {
        await approve(`/payout-batches/${id}/approve`);
        await batchWhen(at.partner, id, 'completed');
      };
    },
  ],
  [
    'a payout that fails',
    async () => {
      const { id } = await pay(at.partner, { bank_account_number: magicAccount('131313') });
      return async () => {
        await eventually(
          async () => (await settleAtProvider(at.stack, id, 'FAILED')).status,
          (s) => s === 200,
        );
        await payoutWhen(at.partner, id, 'failed');
      };
    },
  ],
  [
    'a payout that is reversed',
    async () => {
      const { id } = await pay(at.partner);
      await payoutWhen(at.partner, id, 'succeeded');
      return async () => {
        await settleAtProvider(at.stack, id, 'REVERSED');
        await payoutWhen(at.partner, id, 'reversed');
      };
    },
  ],
  [
    'a payout settled by decision',
    async () => {
      const { id } = await pay(at.partner, { bank_account_number: magicAccount('131313') });
      await eventually(
        () => transfersOf(at.stack, id),
        (transfers) => transfers.length === 1,
      );
      await ageAttempts(at.stack, id, 2);
      return () => decide(at.stack, at.operators, { kind: 'settle_payout', payout_id: id, outcome: 'failed' });
    },
  ],
  [
    'a withdrawal',
    async () => {
      const owner = await buildOwner(at.stack);
      const bank_account_id = await addBankAccount(at.stack, owner);
      return async () => {
        const a = await ask(at.stack, owner, { bank_account_id, amount: '10000' }, newId());
        return (await withdrawalWhen(at.stack, owner, a.body.data.id, 'succeeded')).status;
      };
    },
  ],
  [
    'a disbursement that succeeds',
    async () => {
      await give(at.stack, at.person, 100_000, at.cause.id);
      const bank_account_id = await addBankAccount(at.stack, at.organization);
      return async () => {
        const a = await disburse(bank_account_id, '50000');
        return (await withdrawalWhen(at.stack, at.organization, a.body.data.id, 'succeeded')).status;
      };
    },
  ],
  [
    'a disbursement that fails',
    async () => {
      await give(at.stack, at.person, 100_000, at.cause.id);
      const bank_account_id = await addBankAccount(at.stack, at.organization, '131313');
      const a = await disburse(bank_account_id, '50000');
      return async () => {
        await eventually(
          async () => (await settleAtProvider(at.stack, a.body.data.id, 'FAILED')).status,
          (s) => s === 200,
        );
        return (await withdrawalWhen(at.stack, at.organization, a.body.data.id, 'failed')).status;
      };
    },
  ],
  [
    'a disbursement that is reversed after the cause was closed',
    async () => {
      await give(at.stack, at.person, 50_000, at.cause.id);
      const bank_account_id = await addBankAccount(at.stack, at.organization);
      const a = await disburse(bank_account_id, '50000');
      await withdrawalWhen(at.stack, at.organization, a.body.data.id, 'succeeded');
      await at.stack.delete(`/v1/charitable-causes/${at.cause.id}`, undefined, { token: at.organization.token });
      return async () => {
        await settleAtProvider(at.stack, a.body.data.id, 'REVERSED');
        return (await withdrawalWhen(at.stack, at.organization, a.body.data.id, 'reversed')).status;
      };
    },
  ],
  [
    'a disbursement that is decided',
    async () => {
      await give(at.stack, at.person, 400_000, at.cause.id);
      const bank_account_id = await addBankAccount(at.stack, at.organization);
      const a = await disburse(bank_account_id, '400000');
      const [decision] = await at.stack
        .em()
        .execute<[{ id: string }]>('select id from decisions where withdrawal_id = ?', [a.body.data.id]);
      return async () => {
        for (const { token } of [at.operators.approver, at.second])
          await at.stack.post(`/v1/decisions/${decision.id}/approve`, undefined, { token });
        return (await withdrawalWhen(at.stack, at.organization, a.body.data.id, 'succeeded')).status;
      };
    },
  ],
  [
    'a refund to a wallet',
    async () => {
      const id = await buildPaid(at.stack, at.partner);
      return async () => refundWhen(at.partner, await refund(at.partner, id), 'succeeded');
    },
  ],
  [
    'a donation given back',
    async () => {
      await give(at.stack, at.person, 100_000, at.cause.id);
      const bank_account_id = await addBankAccount(at.stack, at.organization);
      const a = await disburse(bank_account_id, '50000');
      await withdrawalWhen(at.stack, at.organization, a.body.data.id, 'succeeded');
      await give(at.stack, at.person, 10_000, at.cause.id);
      const { items } = (await at.stack.get('/v1/donations?limit=100', { token: at.person.token })).body.data;
      return () => at.stack.post(`/v1/donations/${items[0].id}/refund`, undefined, { token: at.person.token });
    },
  ],
  [
    'an open donation refunded by decision',
    async () => {
      await give(at.stack, at.person, 10_000);
      const { items } = (await at.stack.get('/v1/donations?limit=100', { token: at.person.token })).body.data;
      return async () =>
        (await decide(at.stack, at.operators, { kind: 'refund_donation', donation_id: items[0].id })).status;
    },
  ],
  [
    'an allocation',
    async () => {
      await give(at.stack, at.person, 10_000);
      const { items } = (await at.stack.get('/v1/donations?limit=100', { token: at.person.token })).body.data;
      return () =>
        at.stack.post(
          '/v1/donations/allocate',
          { donation_ids: [items[0].id], cause_id: at.cause.id },
          { token: at.superAdmin.token },
        );
    },
  ],
  [
    'a credit from suspense',
    async () => {
      const { data } = (
        await at.stack.post(
          '/v1/payments/gateway',
          { reference_type: 'account_top_up', reference_id: at.person.accountId, payment_id: 1, amount: 50_000 },
          { token: at.person.token },
        )
      ).body;
      await at.stack.sandbox.post('/sandbox/pay', { payment_code: data.payment_code, amount: 1_000 });
      const receiptId = await suspendedUnder(at.stack, data.payment_order_id);
      return async () =>
        (
          await decide(at.stack, at.operators, {
            kind: 'settle_receipt',
            receipt_id: receiptId,
            action: 'credit',
            account_id: at.person.accountId,
          })
        ).status;
    },
  ],
  [
    'a movement of the platform',
    async () => async () =>
      (await decide(at.stack, at.operators, { kind: 'book_external', amount: '5', reference: newId() })).status,
  ],
];
