import { payoutReferenceOf } from '../shared/ids.ts';

/** The resources in the examples of the partners' reference; see reference-story.ts. */
export const endpointId = '019bba56-a840-7c3e-9a51-3f1d0c8e7b24';
export const paymentId = '019bbf98-8f08-7a16-8d02-6b7f3c9e1a55';
export const openPaymentId = '019bbf9e-1c60-7b42-9e37-0a4d8f2c6b13';
const declinedPaymentId = '019bbf9f-02d8-7e05-b1c4-5d90e7a3f862';
export const payoutId = '019bbfa1-b2e0-7f28-a93b-1e6c4d7f0829';
export const failedPayoutId = '019bbfa4-71b0-7d93-8c16-92f5b0e4a7d3';
export const slowPayoutId = '019bbfa6-3e98-7c07-9b25-e48a1d6f3c50';
export const deliveryId = '019bbf9a-7750-7d31-b604-8e2a9c5f7d10';
const testDeliveryId = '019bba57-1d70-7e4b-8f92-c06d3b1a5e78';

export const endpoint = {
  id: endpointId,
  url: 'https://partner.example/webhooks',
  events: ['payment.succeeded', 'payment.expired', 'payment.available', 'payout.succeeded', 'payout.failed'],
  status: 'enabled',
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  set_by_operator: false,
  created_at: '2026-01-14T02:30:00.000Z',
  updated_at: '2026-01-14T02:30:00.000Z',
};

export const newPayment = {
  id: paymentId,
  reference: 'invoice-2026-0042',
  external_ref: 'invoice-2026-0042',
  status: 'pending',
  is_final: false,
  method: 'virtual_account',
  channel: 'BCA',
  amount: '500000.0000',
  fee: '4000.0000',
  net_amount: '496000.0000',
  refunded_amount: '0.0000',
  currency: 'IDR',
  payment_code: '7007012345678901',
  next_action: { type: 'show_account_number', value: '7007012345678901' },
  metadata: { order_id: '2026-0042' },
  instrument_id: null,
  expires_at: '2026-01-16T03:00:05.000Z',
  created_at: '2026-01-15T03:00:05.000Z',
  finalized_at: null,
  cancelled_at: null,
  available_at: null,
  failure_code: null,
};
export const paidPayment = {
  ...newPayment,
  status: 'succeeded',
  is_final: true,
  next_action: null,
  finalized_at: '2026-01-15T03:02:10.000Z',
  available_at: '2026-01-15T03:02:10.000Z',
};
export const cancelledPayment = {
  ...newPayment,
  id: openPaymentId,
  reference: 'invoice-2026-0043',
  external_ref: 'invoice-2026-0043',
  status: 'expired',
  is_final: true,
  amount: '150000.0000',
  net_amount: '146000.0000',
  payment_code: '7007012345678902',
  next_action: null,
  metadata: null,
  expires_at: '2026-01-16T03:06:12.000Z',
  created_at: '2026-01-15T03:06:12.000Z',
  finalized_at: '2026-01-15T03:08:40.000Z',
  cancelled_at: '2026-01-15T03:08:38.000Z',
};
export const declinedPayment = {
  id: declinedPaymentId,
  reference: 'invoice-2026-0044',
  external_ref: 'invoice-2026-0044',
  status: 'failed',
  is_final: true,
  method: 'ewallet',
  channel: 'OVO',
  amount: '100000.0000',
  fee: '1500.0000',
  net_amount: '98500.0000',
  refunded_amount: '0.0000',
  currency: 'IDR',
  payment_code: null,
  next_action: null,
  metadata: null,
  instrument_id: null,
  expires_at: '2026-01-16T03:07:11.000Z',
  created_at: '2026-01-15T03:07:11.000Z',
  finalized_at: '2026-01-15T03:07:40.000Z',
  cancelled_at: null,
  available_at: null,
  failure_code: 'DECLINED_BY_ISSUER',
};

export const instrumentId = '019bbfb5-1a40-7f36-9c58-2d7e0b4a6c93';
export const instrument = {
  id: instrumentId,
  external_ref: 'customer-0815',
  status: 'active',
  method: 'virtual_account',
  channel: 'BCA',
  amount: null,
  currency: 'IDR',
  payment_code: '7007012345678911',
  customer_name: 'Budi Santoso',
  metadata: null,
  failure_code: null,
  created_at: '2026-01-15T03:32:00.000Z',
  closed_at: null,
};

export const newPayout = {
  id: payoutId,
  reference: payoutReferenceOf(payoutId),
  external_ref: 'payout-2026-0007',
  batch_id: null,
  status: 'pending',
  is_final: false,
  amount: '200000.0000',
  fee: '2500.0000',
  net_amount: '197500.0000',
  currency: 'IDR',
  bank_code: 'BCA',
  created_at: '2026-01-15T03:10:04.000Z',
  succeeded_at: null,
  finalized_at: null,
  booked_at: null,
  failure_code: null,
  metadata: null,
};
export const arrived = {
  status: 'succeeded',
  is_final: true,
  succeeded_at: '2026-01-15T03:10:06.000Z',
  finalized_at: '2026-01-15T03:10:06.000Z',
};
export const beneficiary = { bank_account_number: '1234567890', beneficiary_name: 'Siti Rahayu' };
export const paidOut = { ...newPayout, ...arrived, ...beneficiary };
export const otherPayout = (id: string, externalRef: string) => ({
  ...newPayout,
  ...beneficiary,
  id,
  reference: payoutReferenceOf(id),
  external_ref: externalRef,
});

export const batchId = '019bbfb2-6c10-7e84-8a35-0f4d9c7b2e61';
export const newBatch = {
  id: batchId,
  external_ref: 'payroll-2026-01',
  status: 'needs_approval',
  is_final: false,
  count: 1,
  total_amount: '150000.0000',
  total_fee: '2500.0000',
  currency: 'IDR',
  metadata: null,
  lapses_at: '2026-01-18T03:28:20.000Z',
  created_at: '2026-01-15T03:28:20.000Z',
  decided_at: null,
  finalized_at: null,
};
export const approvedBatch = { ...newBatch, status: 'processing', decided_at: '2026-01-15T03:40:02.000Z' };
export const completedBatch = {
  ...approvedBatch,
  status: 'completed',
  is_final: true,
  finalized_at: '2026-01-15T03:40:09.000Z',
};
const batchPayoutId = '5b0c6f2e-7d14-5a39-9e82-c1f04b6d7a28';
export const batchItem = {
  id: batchPayoutId,
  batch_id: batchId,
  reference: payoutReferenceOf(batchPayoutId),
  external_ref: 'payroll-2026-01-siti',
  status: 'needs_approval',
  is_final: false,
  amount: '150000.0000',
  fee: '2500.0000',
  net_amount: '147500.0000',
  currency: 'IDR',
  bank_code: 'BCA',
  ...beneficiary,
  metadata: null,
  failure_code: null,
  created_at: '2026-01-15T03:28:20.000Z',
  succeeded_at: null,
  finalized_at: null,
  booked_at: null,
};

export const refundId = '019bc4d2-7e18-7a53-8c40-6f1b2d9e0a74';
export const newRefund = {
  id: refundId,
  payment_id: paymentId,
  reference: payoutReferenceOf(refundId, 'payment_refund'),
  status: 'pending',
  is_final: false,
  amount: '100000.0000',
  currency: 'IDR',
  reason: 'One of five was out of stock',
  bank_code: 'BCA',
  bank_account_number: '0987654321',
  beneficiary_name: 'Budi Santoso',
  metadata: null,
  failure_code: null,
  created_at: '2026-01-16T03:20:14.000Z',
  finalized_at: null,
  booked_at: null,
};
export const refunded = {
  ...newRefund,
  status: 'succeeded',
  is_final: true,
  finalized_at: '2026-01-16T03:20:16.000Z',
};

export const delivery = {
  id: deliveryId,
  endpoint_id: endpointId,
  webhook_id: `msg_${deliveryId.replaceAll('-', '')}`,
  type: 'payment.succeeded',
  resource_id: paymentId,
  version: 1,
  status: 'delivered',
  attempts: 1,
  last_status: 204,
  last_error: null,
  next_attempt_at: null,
  delivered_at: '2026-01-15T03:02:10.400Z',
  created_at: '2026-01-15T03:02:10.000Z',
};
export const testDelivery = {
  ...delivery,
  id: testDeliveryId,
  webhook_id: `msg_${testDeliveryId.replaceAll('-', '')}`,
  type: 'endpoint.test',
  resource_id: endpointId,
  status: 'pending',
  attempts: 0,
  last_status: null,
  next_attempt_at: '2026-01-14T02:31:00.000Z',
  delivered_at: null,
  created_at: '2026-01-14T02:31:00.000Z',
};

export const page = (...items: unknown[]) => ({ items, page: 1, limit: 50, total: items.length });
const moved = (count: number, amount: string, fee: string, available: string, pending: string) => ({
  count,
  amount: `${amount}.0000`,
  fee: `${fee}.0000`,
  available: `${available}.0000`,
  pending: `${pending}.0000`,
});
export const nothing = moved(0, '0', '0', '0', '0');
export const line = (
  group: string,
  kind: string,
  at: string,
  of: object,
  { count: _, ...sums }: ReturnType<typeof moved>,
) => ({
  created_at: at,
  group,
  kind,
  ...of,
  ...sums,
});
export const ofPayment = { resource_id: paymentId, external_ref: 'invoice-2026-0042' };
export const ofPayout = { resource_id: payoutId, external_ref: 'payout-2026-0007' };
export const paid = moved(1, '500000', '4000', '0', '496000');
export const settled = moved(1, '496000', '0', '496000', '-496000');
export const reserved = moved(1, '200000', '0', '-200000', '200000');
export const sent = moved(1, '197500', '2500', '0', '-200000');
