import { bodyTimeoutMs } from '../platform/http/body.ts';
import type { RefusalsOf } from '../platform/http/document-refusals.ts';
import { nounOf, operationId } from '../platform/http/operation-id.ts';
import type { Route } from '../platform/http/route-group.ts';
import { bodyLimitOf, bodyOf } from '../platform/http/serve-route.ts';
import { validate } from '../platform/http/validate.ts';
import { DomainError, isDomainError } from '../shared/errors.ts';
import { missingAuthorization } from './refuse-malformed-proof.ts';
import { instrumentId, openPaymentId, paymentId } from './story-resources.ts';

const permissionOf = ({ access }: Route): string => (access.kind === 'partner' ? access.permission : '');
const statusUrlOf = (id: string) => ({ payment_id: id, status_url: `/v1/partners/payments/${id}` });

const instrumentUrlOf = (id: string) => ({ instrument_id: id, status_url: `/v1/partners/instruments/${id}` });

/** The refusal of a body that lacks a required field, or has an unknown field if none is required. */
function refusedBody(route: Route): DomainError {
  const schema = bodyOf(route);
  for (const body of [{}, { amount: '1' }]) {
    try {
      if (schema !== null) validate(schema, body);
    } catch (error) {
      if (isDomainError(error)) return error;
      throw error;
    }
  }
  throw new Error(`${route.method} ${route.path} refuses no body`);
}

const [reused, keyRequired, alreadyPaid, notPaid, inactive, notLinked] = [
  new DomainError('REQUEST_IDEMPOTENCY_KEY_REUSED', 'this key is attached to a different request', {
    field: 'X-Idempotency-Key',
  }),
  new DomainError('REQUEST_IDEMPOTENCY_KEY_REQUIRED', 'The header X-Idempotency-Key is required'),
  new DomainError('PAYMENT_ALREADY_PAID', 'The payment was paid before it could be cancelled'),
  new DomainError('PAYMENT_NOT_PAID', 'The payment is not paid, so there is nothing to refund'),
  new DomainError('AUTH_PARTNER_INACTIVE', 'The partner account is suspended'),
  new DomainError('RESOURCE_NOT_LINKED', 'not linked to this partner account', { field: 'organization_id' }),
] as const;
const decided = new DomainError('PAYOUT_BATCH_DECIDED', 'The batch is completed', { details: { status: 'completed' } });
const payoutsOff = new DomainError('FUNDS_PAYOUT_SUSPENDED', 'Payouts are off for this account');
const notCovered = new DomainError(
  'FUNDS_INSUFFICIENT_BALANCE',
  'The available balance, IDR 296000.0000, does not cover IDR 400000.0000',
  { details: { available: '296000.0000', required: '400000.0000' } },
);
const beyondLimit = new DomainError('FUNDS_LIMIT_EXCEEDED', 'A single payout is at most IDR 25000000.0000', {
  details: { limit: 'max_payout_amount', maximum: '25000000.0000', used: '0.0000', remaining: '25000000.0000' },
});
const beyondPaid = new DomainError('FUNDS_REFUND_EXCEEDED', 'IDR 400000.0000 of the payment can still be refunded', {
  details: { paid: '500000.0000', refunded: '100000.0000', remaining: '400000.0000' },
});

/** The refusals specific to these operations. */
const ofOperations: Readonly<Record<string, Readonly<Record<number, readonly DomainError[]>>>> = {
  createPayment: {
    502: [
      new DomainError('PROVIDER_REFUSED', 'The provider refused the payment: CHANNEL_NOT_ACTIVATED', {
        details: { payment_id: paymentId, failure_code: 'CHANNEL_NOT_ACTIVATED' },
      }),
    ],
    504: [
      new DomainError(
        'PROVIDER_INDETERMINATE',
        'The provider has not answered yet: poll, or retry under the same key',
        { details: statusUrlOf(paymentId) },
      ),
    ],
  },
  createInstrument: {
    502: [
      new DomainError('PROVIDER_REFUSED', 'The provider refused the instrument: CHANNEL_NOT_ACTIVATED', {
        details: { instrument_id: instrumentId, failure_code: 'CHANNEL_NOT_ACTIVATED' },
      }),
    ],
    504: [
      new DomainError(
        'PROVIDER_INDETERMINATE',
        'The provider has not answered yet: poll, or retry under the same key',
        { details: instrumentUrlOf(instrumentId) },
      ),
    ],
  },
  closeInstrument: {
    504: [
      new DomainError(
        'PROVIDER_INDETERMINATE',
        'The provider has not closed the instrument yet: poll it, or try again',
        { details: instrumentUrlOf(instrumentId) },
      ),
    ],
  },
  cancelPayment: {
    409: [alreadyPaid],
    504: [
      new DomainError(
        'PROVIDER_INDETERMINATE',
        'The provider has not cancelled the payment yet: poll it, or try again',
        {
          details: statusUrlOf(openPaymentId),
        },
      ),
    ],
  },
  createPaymentRefund: { 409: [notPaid, reused], 422: [beyondPaid, notCovered, payoutsOff] },
  replayWebhookDeliveries: {
    404: [new DomainError('RESOURCE_NOT_FOUND', 'the webhook endpoint was not found', { field: 'endpoint_id' })],
  },
  approvePayoutBatch: { 409: [decided], 422: [beyondLimit, notCovered, payoutsOff] },
  rejectPayoutBatch: { 409: [decided] },
  rotateKeys: {
    409: [new DomainError('KEY_ALREADY_ROTATED', 'The key has already been rotated or revoked: use its successor')],
  },
  createPayout: { 422: [beyondLimit, notCovered, payoutsOff] },
};

/** The refusals of a partner's operation by status; the first of each is the example. */
export const partnerRefusals: RefusalsOf = (route) => {
  const mayName = 'organization_id' in (route.body && 'shape' in route.body ? (route.body.shape as object) : {});
  return {
    400: [refusedBody(route), ...(route.idempotent ? [keyRequired] : [])],
    401: [new DomainError('AUTH_INVALID_CREDENTIALS', missingAuthorization)],
    403: [
      new DomainError('AUTH_PERMISSION_DENIED', `The API key lacks the permission ${permissionOf(route)}`),
      inactive,
      ...(mayName ? [notLinked] : []),
    ],
    404: [new DomainError('RESOURCE_NOT_FOUND', `The ${nounOf(route.path)} was not found`)],
    408: [new DomainError('REQUEST_TIMEOUT', `The body did not arrive within ${bodyTimeoutMs / 1000} seconds`)],
    409: [reused],
    413: [new DomainError('PAYLOAD_TOO_LARGE', `The body is larger than ${bodyLimitOf(route)} bytes`)],
    429: [new DomainError('REQUEST_RATE_LIMITED', 'At most 2000 requests in 10 seconds')],
    500: [new DomainError('INTERNAL', 'Internal error')],
    503: [new DomainError('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable; try again')],
    ...ofOperations[operationId(route)],
  };
};
