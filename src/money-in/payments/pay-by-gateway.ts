import type { EntityManager } from '@mikro-orm/postgresql';
import { unlessErased } from '../../platform/encryption/personal-keys.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import {
  answerOf,
  arriveUnderKey,
  claimFor,
  findFirstAnswer,
  keepFirstAnswer,
  type SentAnswer,
} from '../../platform/openings/idempotency-keys.ts';
import { createOnce, namingUnlessKeyed } from '../../platform/openings/open-once.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { paymentOrderIdFor } from '../../shared/ids.ts';
import { formatMoney } from '../../shared/money.ts';
import type { KeyClaim } from '../../shared/opening.ts';
import { adminFee, getChannelFor } from './find-channels.ts';
import { findOrder } from './find-orders.ts';
import { getHandler, type PaymentHandler, type PaymentKinds } from './handler.ts';
import type { Asking } from './pay-as-asked.ts';
import type { GatewayPaymentWorkflows, PaymentOpening } from './payment-contract.ts';
import type { PaymentOrder } from './payment-order.entity.ts';
import { type GatewayPaymentRequest, type PaymentTexts, presentOrder } from './present-order.ts';

export interface GatewayPorts {
  sealer: Sealer;
  paymentKinds: PaymentKinds;
  workflows: Pick<GatewayPaymentWorkflows, 'startGatewayPayment'>;
}

/** A request; its fingerprint is computed from path and body, with amounts as money. */
interface GatewayRequest {
  path: string;
  body: Record<string, unknown>;
  payment: GatewayPaymentRequest;
}

type ShownOrder = ReturnType<typeof presentOrder>;
/** The response to a gateway payment: the order is at `data`, or at `payment` for a contribution to a circle. */
type GatewayAnswer = { data: ShownOrder } | { payment: ShownOrder };

/**
 * Starts the order's workflow and waits up to ten seconds for its instrument. Returns the `answer` for the order, or
 * the first response under the idempotency key. Throws as `prepareGatewayPayment` and the handler's pending row do,
 * IDEMPOTENCY_KEY_REUSED, PROVIDER_REFUSED, and SERVICE_UNAVAILABLE if the workflow could not be started.
 */
export async function payByGateway(
  em: EntityManager,
  ports: GatewayPorts,
  { caller, key, requestId }: Asking,
  { path, body: asked, payment: body }: GatewayRequest,
  answer: (order: ShownOrder) => Promise<GatewayAnswer>,
): Promise<SentAnswer> {
  const claim = claimFor(caller.userId, key, path, asked);
  const { stamp, made: before } = await arriveUnderKey(em, claim, { livesMs: budgets.requests.gatewayPayment });
  const replay = answerOf(before);
  if (replay !== null) return withTexts(em, ports.sealer, replay);
  const orderId = paymentOrderIdFor(caller.userId, key);
  const unavailable = 'The payment could not be started; try again';
  const found = await createOnce(
    em,
    { resourceId: orderId, kind: 'payment_order', claim, stamp, unavailable },
    {
      find: (place) => findOrder(place, orderId),
      prepare: () => prepareGatewayPayment(em, ports, { orderId, caller, body, claim, requestId }),
      start: (opening) => ports.workflows.startGatewayPayment(orderId, opening, budgets.requests.gatewayPayment),
    },
  );
  const { order } = found;
  // If the order had its instrument, its payer declined it later: return it unchanged.
  if (order.status === 'FAILED' && !order.provider_payment_request_id) {
    // The start may have joined another request's order with the same key, which this request must not return.
    if (claim !== null) await findFirstAnswer(em.fork(), claim);
    refuse('PROVIDER_REFUSED', `The provider refused the payment: ${order.failure_code ?? 'no reason given'}`);
  }
  return namingUnlessKeyed({ resourceId: orderId, stamp }, async () => {
    // The payer's texts are stored only in the order, sealed.
    const made = { status: 201, body: JSON.stringify(await answer(presentOrder(found, noTexts))), replayed: false };
    const kept = await keepFirstAnswer(em.fork(), claim, made);
    return withTexts(em, ports.sealer, kept, order);
  });
}

/** Inserts the order's texts into a stored response, which then equals the first response byte for byte. */
async function withTexts(
  em: EntityManager,
  sealer: Sealer,
  kept: SentAnswer,
  made?: PaymentOrder,
): Promise<SentAnswer> {
  const answer: GatewayAnswer = JSON.parse(kept.body);
  const shown = 'data' in answer ? answer.data : answer.payment;
  const order = made ?? (await findOrder(em, shown.payment_order_id))?.order;
  Object.assign(shown, await openTexts(sealer, shown.payment_order_id, order?.texts_sealed));
  return { ...kept, body: JSON.stringify(answer) };
}

interface Preparing {
  orderId: string;
  caller: Caller;
  body: GatewayPaymentRequest;
  claim: KeyClaim | null;
  requestId: string;
}

/** Runs every check that can refuse a payment before it exists, and returns its workflow's input. */
export async function prepareGatewayPayment(
  em: EntityManager,
  ports: { sealer: Sealer; paymentKinds: PaymentKinds },
  { orderId, caller, body, claim, requestId }: Preparing,
): Promise<Omit<PaymentOpening, 'stamp'>> {
  const handler = getHandler(ports, caller, { referenceType: body.reference_type, rail: 'gateway' });
  const { reference_id: referenceId, on_behalf_of: onBehalfOf = null } = body;
  const amount = formatMoney(body.amount);
  const target = await handler.findTarget(em, { referenceId, amount, rail: 'gateway', caller, onBehalfOf });
  const nominal = target.amount ?? amount;
  const channel = await getChannelFor(em, body.payment_id, nominal);
  const order = {
    user_id: caller.userId,
    organization_id: caller.organizationId,
    reference_type: body.reference_type,
    reference_id: referenceId,
    on_behalf_of: onBehalfOf,
    target_account_id: target.accountId,
    payment_id: channel.id,
    nominal,
    admin_fee: adminFee(nominal, channel),
    texts_sealed: await sealTexts(ports.sealer, { orderId, caller }, handler, body),
    request_id: requestId,
  };
  return { order, claim };
}

const placeOfTexts = (orderId: string) => ({ table: 'payment_orders', column: 'texts_sealed', row: orderId });

/** Seals the payer's texts, an individual's under their own key; an empty name gets a default. */
function sealTexts(
  sealer: Sealer,
  { orderId, caller }: { orderId: string; caller: Caller },
  { referenceType }: PaymentHandler,
  { transaction_name, transaction_desc }: GatewayPaymentRequest,
): Promise<string> {
  const texts: PaymentTexts = {
    transaction_name: transaction_name || referenceType.replaceAll('_', ' '),
    transaction_desc: transaction_desc ?? '',
  };
  const person = caller.userType === 'individual' ? { id: caller.userId } : null;
  return sealer.seal({ ...placeOfTexts(orderId), person }, JSON.stringify(texts));
}

const noTexts: PaymentTexts = { transaction_name: '', transaction_desc: '' };

/** The decrypted texts of an order; empty once its payer has been erased. */
export async function openTexts(
  sealer: Sealer,
  orderId: string,
  sealed: string | null | undefined,
): Promise<PaymentTexts> {
  const opened = sealed ? await unlessErased(sealer.open(placeOfTexts(orderId), sealed)) : null;
  return opened === null ? noTexts : JSON.parse(opened);
}
