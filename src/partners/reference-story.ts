import { exampleRequestId } from '../platform/http/answer-headers.ts';
import type { OperationExample, WrittenExamples } from '../platform/http/place-examples.ts';
import { partnerRefusals } from './reference-refusals.ts';
import { channels, limits } from './story-channels.ts';
import {
  approvedBatch,
  arrived,
  batchId,
  batchItem,
  beneficiary,
  cancelledPayment,
  completedBatch,
  delivery,
  deliveryId,
  endpoint,
  endpointId,
  instrument,
  instrumentId,
  line,
  newBatch,
  newPayment,
  newPayout,
  newRefund,
  nothing,
  ofPayment,
  ofPayout,
  openPaymentId,
  page,
  paid,
  paidOut,
  paidPayment,
  paymentId,
  payoutId,
  refunded,
  refundId,
  reserved,
  sent,
  settled,
  testDelivery,
} from './story-resources.ts';
import { paymentTimeline, payoutTimeline, refundTimeline } from './story-timelines.ts';
import { paymentSucceeded, storyWebhooks } from './story-webhooks.ts';

const atEndpoint = { parameters: { id: endpointId } };
const atDelivery = { parameters: { id: deliveryId } };
const atPayment = { parameters: { id: paymentId } };
const atRefund = { parameters: { id: paymentId, refund_id: refundId } };
const atInstrument = { parameters: { id: instrumentId } };
const atBatch = { parameters: { id: batchId } };
const atPayout = { parameters: { id: payoutId } };

const operations: Readonly<Record<string, OperationExample>> = {
  createWebhookEndpoint: {
    body: { url: endpoint.url, events: endpoint.events },
    answer: { ...endpoint, warnings: [], secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' },
  },
  listWebhookEndpoints: { answer: page(endpoint) },
  updateWebhookEndpoint: {
    ...atEndpoint,
    body: { status: 'disabled' },
    answer: {
      ...endpoint,
      status: 'disabled',
      disabled_reason: 'requested',
      disabled_at: '2026-01-20T01:00:00.000Z',
      updated_at: '2026-01-20T01:00:00.000Z',
      warnings: [],
    },
  },
  deleteWebhookEndpoint: { ...atEndpoint, answer: endpoint },
  rotateSecretWebhookEndpoint: {
    ...atEndpoint,
    answer: {
      ...endpoint,
      updated_at: '2026-01-18T01:00:00.000Z',
      secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=',
    },
  },
  testWebhookEndpoint: { ...atEndpoint, body: { type: 'endpoint.test' }, answer: testDelivery },

  createQuote: {
    body: { method: 'virtual_account', channel: 'BCA', amount: '500000' },
    answer: {
      amount: '500000.0000',
      gross_amount: '500000.0000',
      fee: '4000.0000',
      net_amount: '496000.0000',
      currency: 'IDR',
      quoted_at: '2026-01-15T03:00:00.000Z',
    },
  },
  createPayment: {
    parameters: { 'X-Idempotency-Key': 'payment-invoice-2026-0042' },
    body: {
      method: 'virtual_account',
      channel: 'BCA',
      amount: '500000',
      external_ref: 'invoice-2026-0042',
      customer_name: 'Budi Santoso',
      metadata: newPayment.metadata,
    },
    answer: { ...newPayment, status_url: `/v1/partners/payments/${paymentId}` },
  },
  listPayments: { parameters: { external_ref: 'invoice-2026-0042' }, answer: page(paidPayment) },
  getPayment: { ...atPayment, answer: paidPayment },
  cancelPayment: { parameters: { id: openPaymentId }, answer: cancelledPayment },
  getPaymentTimeline: { ...atPayment, answer: paymentTimeline },

  createInstrument: {
    parameters: { 'X-Idempotency-Key': 'instrument-customer-0815' },
    body: {
      method: 'virtual_account',
      channel: 'BCA',
      external_ref: instrument.external_ref,
      customer_name: instrument.customer_name,
    },
    answer: { ...instrument, status_url: `/v1/partners/instruments/${instrumentId}` },
  },
  listInstruments: { parameters: { status: 'active' }, answer: page(instrument) },
  getInstrument: { ...atInstrument, answer: instrument },
  closeInstrument: {
    ...atInstrument,
    answer: { ...instrument, status: 'closed', closed_at: '2026-01-20T02:00:00.000Z' },
  },

  createPaymentRefund: {
    parameters: { id: paymentId, 'X-Idempotency-Key': 'refund-invoice-2026-0042' },
    body: {
      amount: '100000',
      reason: newRefund.reason,
      bank_code: newRefund.bank_code,
      bank_account_number: newRefund.bank_account_number,
      beneficiary_name: newRefund.beneficiary_name,
    },
    answer: { ...newRefund, status_url: `/v1/partners/payments/${paymentId}/refunds/${refundId}` },
  },
  listPaymentRefunds: { ...atPayment, answer: page(refunded) },
  getPaymentRefund: { ...atRefund, answer: refunded },
  getPaymentRefundTimeline: { ...atRefund, answer: refundTimeline },

  listWebhookDeliveries: { parameters: { type: 'payment.succeeded' }, answer: page(delivery) },
  getWebhookDelivery: { ...atDelivery, answer: { ...delivery, body: JSON.stringify(paymentSucceeded) } },
  redeliverWebhookDelivery: {
    ...atDelivery,
    answer: { ...delivery, status: 'pending', next_attempt_at: '2026-01-15T08:00:00.000Z', delivered_at: null },
  },
  replayWebhookDeliveries: {
    body: { from: '2026-01-15', to: '2026-01-15', endpoint_id: endpointId },
    answer: { count: 3 },
  },

  getBalance: {
    answer: { balance: '296000.0000', available: '296000.0000', pending: '0.0000', currency: 'IDR' },
  },
  listChannels: { answer: channels },
  listLimits: { answer: limits },

  createPayoutBatch: {
    parameters: { 'X-Idempotency-Key': 'payroll-2026-01' },
    body: {
      items: [{ amount: '150000', bank_code: 'BCA', ...beneficiary, external_ref: batchItem.external_ref }],
      external_ref: newBatch.external_ref,
    },
    answer: { ...newBatch, status_url: `/v1/partners/payout-batches/${batchId}` },
  },
  listPayoutBatches: { parameters: { status: 'completed' }, answer: page(completedBatch) },
  getPayoutBatch: { ...atBatch, answer: completedBatch },
  listPayoutBatchItems: { ...atBatch, answer: page(batchItem) },
  approvePayoutBatch: { ...atBatch, answer: approvedBatch },
  rejectPayoutBatch: {
    ...atBatch,
    answer: {
      ...newBatch,
      status: 'rejected',
      is_final: true,
      decided_at: '2026-01-15T03:40:02.000Z',
      finalized_at: '2026-01-15T03:40:02.000Z',
    },
  },

  createBankAccountCheck: {
    body: { bank_code: 'BCA', bank_account_number: beneficiary.bank_account_number, name: 'Siti Rahayu' },
    answer: {
      id: '019bbfa0-4b38-7c61-9d07-3e8f5a1b2c94',
      status: 'valid',
      account_holder: 'SITI RAHAYU',
      name_match: 'match',
      checked_at: '2026-01-15T03:09:41.000Z',
    },
  },
  createPayout: {
    parameters: { 'X-Idempotency-Key': 'payout-2026-0007' },
    body: { amount: '200000', bank_code: 'BCA', ...beneficiary, external_ref: 'payout-2026-0007' },
    answer: { ...newPayout, ...beneficiary, status_url: `/v1/partners/payouts/${payoutId}` },
  },
  listPayouts: {
    parameters: { status: 'succeeded' },
    answer: page({ ...newPayout, ...arrived, beneficiary_name: beneficiary.beneficiary_name }),
  },
  getPayout: { ...atPayout, answer: paidOut },
  getPayoutTimeline: { ...atPayout, answer: payoutTimeline },

  getSettlement: {
    parameters: { day: '2026-01-15' },
    answer: {
      day: '2026-01-15',
      currency: 'IDR',
      sealed: true,
      opening: { balance: '0.0000', available: '0.0000', pending: '0.0000' },
      closing: { balance: '296000.0000', available: '296000.0000', pending: '0.0000' },
      totals: {
        paid,
        settled,
        payouts: sent,
        refunds: nothing,
        reserved,
        returned: nothing,
        reversed: nothing,
        other: nothing,
      },
      lines: [
        line('paid', 'partner-payment.settled', '2026-01-15T03:02:10.000Z', ofPayment, paid),
        line('settled', 'partner-payment.released', '2026-01-15T03:02:10.000Z', ofPayment, settled),
        line('reserved', 'partner-payout.reserved', '2026-01-15T03:10:04.000Z', ofPayout, reserved),
        line('payouts', 'partner-payout.succeeded', '2026-01-15T03:10:06.000Z', ofPayout, sent),
      ].map((one, index) => ({ ...one, journal_id: `019bbf9a-7750-7a${index}0-8c4d-2f9e6b1d7a0${index}` })),
    },
  },

  rotateKeys: {
    answer: {
      id: '019bd48e-4c00-7b19-8e63-7d2f5a0c9b41',
      prefix: 'amk_Hk3vT9qZ',
      permissions: [
        'collect-payment',
        'read-gateway',
        'request-payout',
        'approve-payout',
        'refund-payment',
        'manage-webhooks',
        'manage-keys',
      ],
      require_signature_v2: false,
      created_at: '2026-01-19T04:42:24.000Z',
      valid_until: null,
      revoked_at: null,
      api_key: 'amk_Hk3vT9qZ-example-of-a-key-that-opens-nothing-0000',
      signing_secret: 'ams_example-of-a-secret-that-signs-nothing-000000000',
    },
  },
};

/**
 * The examples of the partners' reference. They follow a partner without a settlement delay: a webhook endpoint, a
 * quote, a payment that the customer pays, its webhooks, a payout that succeeds, and that day's statement; also a
 * payment that is cancelled, and a partial refund of the first payment the next day. Ids and amounts are the same
 * throughout, but the balance and the statement omit the batch.
 */
export const partnerStory: WrittenExamples = {
  operations,
  webhooks: storyWebhooks,
  refusals: partnerRefusals,
  requestId: exampleRequestId,
};
