import { CreateRefundToJSON } from 'xendit-node/refund/models/index.js';
import { z } from 'zod';
import { sha256 } from '../../../shared/digest.ts';
import {
  type CallOptions,
  type FoundTransfer,
  ProviderUnknown,
  type RefundRequest,
  type TransferOutcome,
  type TransferState,
} from '../gateway.ts';
import { exchange, lookUp, ProviderRefusal, refusalOf } from './client.ts';
import { type ClientSettings, first } from './settings.ts';
import { mostTelling } from './transfers.ts';
import { moneyFromWire, wireAmount } from './wire-amount.ts';

/** The wire format: the SDK's model of a refund lacks its status. */
const refundAnswer = z.object({
  id: z.string().min(1),
  payment_request_id: z.string().nullish(),
  reference_id: z.string().nullish(),
  amount: z.number(),
  status: z.string(),
  failure_code: z.string().nullish(),
  created: z.coerce.date().nullish().catch(null),
});
const refundList = z.object({ data: z.array(refundAnswer), has_more: z.boolean().nullish() });

const statuses: Record<string, TransferState['status']> = {
  PENDING: 'accepted',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'failed',
};

function stateOf({
  id,
  reference_id,
  amount,
  status,
  failure_code,
  created,
}: z.infer<typeof refundAnswer>): TransferState {
  const known = statuses[status];
  if (!known) throw new ProviderUnknown(`the provider answered with the unknown refund status ${status}`);
  return {
    providerTransferId: id,
    reference: reference_id ?? '',
    amount: moneyFromWire(amount),
    status: known,
    failureCode: failure_code ?? (status === 'CANCELLED' ? 'CANCELLED' : null),
    createdAt: created ?? null,
  };
}

/** Builds the request body, the same for every attempt. The partner's own reason is not sent. */
const bodyOf = ({ reference, refundOf, amount }: RefundRequest) => ({
  paymentRequestId: refundOf,
  referenceId: reference,
  amount: wireAmount(amount),
  currency: 'IDR',
  reason: 'REQUESTED_BY_CUSTOMER' as const,
});

/** SHA-256 (hex) over the body that the request sends. */
export const digestRefund = (request: RefundRequest): string =>
  sha256(JSON.stringify(CreateRefundToJSON(bodyOf(request))));

/** Requests a refund, with its reference as the idempotency key of every attempt. */
export async function requestRefund(
  settings: ClientSettings,
  request: RefundRequest,
  options: CallOptions = {},
): Promise<TransferOutcome> {
  const data = bodyOf(request);
  try {
    const transfer = await exchange(first(settings), 'request refund', options, async (client) => {
      // biome-ignore lint/complexity/useLiteralKeys: private in the SDK's types; the public method drops the status
      const { raw } = await client.refunds['createRefundRaw']({ idempotencyKey: request.reference, data });
      const answer = refundAnswer.parse(await raw.json());
      if (answer.reference_id !== request.reference || answer.amount !== data.amount) {
        throw new ProviderUnknown('request refund: the provider answered with another refund');
      }
      return stateOf(answer);
    });
    return { outcome: 'accepted', transfer };
  } catch (error) {
    // Another refund of the same payment is in progress: nothing was done, and a later request may succeed.
    if (error instanceof ProviderRefusal && error.code === 'REFUND_IN_PROGRESS') {
      throw new ProviderUnknown('request refund: another refund of the payment is in progress', { neverSent: true });
    }
    return refusalOf(error);
  }
}

/**
 * Returns the refund with this id if it was made under the reference, otherwise null. For refunds whose payment request
 * is unknown.
 */
export async function findRefundById(
  settings: ClientSettings,
  { reference, id }: { reference: string; id: string },
  options: CallOptions = {},
): Promise<FoundTransfer | null> {
  return lookUp(first(settings), 'find refund by id', options, async (client) => {
    // biome-ignore lint/complexity/useLiteralKeys: as above
    const { raw } = await client.refunds['getRefundRaw']({ refundID: id });
    const state = stateOf(refundAnswer.parse(await raw.json()));
    return state.reference === reference ? { ...state, further: [] } : null;
  });
}

const perPage = 50;
/** Maximum pages of one payment's refunds to search; beyond them the outcome is unknown. */
const mostPages = 20;

/** Returns the provider's state of the refund with this reference under a payment request, or null if there is none. */
export async function findRefund(
  settings: ClientSettings,
  { reference, refundOf }: { reference: string; refundOf: string },
  { known, ...options }: CallOptions & { known?: string | null | undefined } = {},
): Promise<FoundTransfer | null> {
  return lookUp(first(settings), 'find refund', options, async (client) => {
    const found: TransferState[] = [];
    let afterId: string | undefined;
    for (let page = 1; ; page += 1) {
      if (page > mostPages) throw new ProviderUnknown('find refund: the payment has too many refunds');
      // biome-ignore lint/complexity/useLiteralKeys: as above
      const { raw } = await client.refunds['getAllRefundsRaw']({
        paymentRequestId: refundOf,
        limit: perPage,
        ...(afterId === undefined ? {} : { afterId }),
      });
      const { data, has_more } = refundList.parse(await raw.json());
      found.push(...data.filter(({ reference_id }) => reference_id === reference).map(stateOf));
      afterId = data.at(-1)?.id;
      // A full page is the last only if `has_more` is false.
      if (afterId === undefined || !(has_more ?? data.length === perPage)) break;
    }
    return mostTelling(found, known);
  });
}
