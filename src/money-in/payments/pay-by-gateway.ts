import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { createOnce } from '../../platform/openings/create-once.ts';
import {
  answerOf,
  arriveUnderKey,
  findFirstAnswer,
  fingerprintOf,
  hashKey,
  keepFirstAnswer,
  type SentAnswer,
  type StoredAnswer,
} from '../../platform/openings/idempotency-keys.ts';
import { stampOpening } from '../../platform/openings/stamp-opening.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { paymentOrderIdFor } from '../../shared/ids.ts';
import type { KeyClaim, OpeningStamp } from '../../shared/opening.ts';
import { findOrder, type OrderWithChannel } from './find-orders.ts';
import type { PaymentKinds } from './handler.ts';
import type { Asking } from './pay-under-key.ts';
import type { GatewayPaymentWorkflows } from './payment-contract.ts';
import {
  type GatewayPaymentRequest,
  openTexts,
  type PaymentTexts,
  prepareGatewayPayment,
} from './prepare-gateway-payment.ts';
import { presentOrder } from './present-order.ts';

/** What a payment by the gateway needs in addition to the database. */
export interface GatewayPorts {
  sealer: Sealer;
  paymentKinds: PaymentKinds;
  workflows: Pick<GatewayPaymentWorkflows, 'startGatewayPayment'>;
}

/** What a request asks for; path and body are what its fingerprint is made of, with amounts as money. */
interface GatewayRequest {
  path: string;
  body: Record<string, unknown>;
  payment: GatewayPaymentRequest;
}

type ShownOrder = ReturnType<typeof presentOrder>;
/** The answer to a gateway payment: the order is at `data`, or at `payment` for a contribution to a circle. */
type GatewayAnswer = { data: ShownOrder } | { payment: ShownOrder };

/**
 * Pays by the gateway: starts the order's workflow and waits at most ten seconds for its instrument. Returns what
 * `answer` says of the order, and under an idempotency key the first request's answer from then on. Throws what
 * `prepareGatewayPayment` and the handler's pending row refuse, IDEMPOTENCY_KEY_REUSED for the key of another request,
 * PROVIDER_REFUSED when the provider refuses, and SERVICE_UNAVAILABLE when nothing could be started.
 */
export async function payByGateway(
  em: EntityManager,
  ports: GatewayPorts,
  asking: Asking,
  { path, body, payment }: GatewayRequest,
  answer: (order: ShownOrder) => Promise<GatewayAnswer>,
): Promise<SentAnswer> {
  const { caller, key } = asking;
  const claim =
    key === undefined
      ? null
      : { userId: caller.userId, keyHash: hashKey(key), fingerprint: fingerprintOf('POST', path, body) };
  const { stamp, made: before } =
    claim === null
      ? { stamp: await stampOpening(em, { livesMs: budgets.requests.gatewayPayment }), made: null }
      : await arriveUnderKey(em, claim);
  const replay = answerOf(before);
  if (replay !== null) return { ...(await withTexts(em, ports.sealer, replay)), replayed: true };
  const found = await orderByGateway(em, ports, asking, { payment, claim, stamp });
  const { id, texts_sealed } = found.order;
  const made = await answer(presentOrder(found, await openTexts(ports.sealer, id, texts_sealed)));
  if (claim === null) return { status: 201, body: JSON.stringify(made), replayed: false };
  // The payer's texts are stored only in the order, sealed.
  const kept = {
    status: 201,
    body: JSON.stringify(replaceTexts(made, { transaction_name: '', transaction_desc: '' })),
  };
  const { first, ...answered } = await keepFirstAnswer(em.fork(), claim, kept);
  return { ...(await withTexts(em.fork(), ports.sealer, answered)), replayed: !first };
}

async function orderByGateway(
  em: EntityManager,
  ports: GatewayPorts,
  { caller, key, requestId }: Asking,
  { payment, claim, stamp }: { payment: GatewayPaymentRequest; claim: KeyClaim | null; stamp: OpeningStamp },
): Promise<OrderWithChannel> {
  const orderId = paymentOrderIdFor(caller.userId, key);
  const unavailable = 'The payment could not be started; try again';
  const found = await createOnce(
    em,
    { resourceId: orderId, kind: 'payment_order', claim, stamp, isKeyed: key !== undefined, unavailable },
    {
      find: (place) => findOrder(place, orderId),
      prepare: () => prepareGatewayPayment(em, ports, { orderId, caller, body: payment, claim, requestId }),
      start: (opening) => ports.workflows.startGatewayPayment(orderId, opening, budgets.requests.gatewayPayment),
    },
  );
  // An order that had its instrument failed later, by its payer: that is returned as it stands.
  if (found.order.status !== 'FAILED' || found.order.provider_payment_request_id) return found;
  // The order joined may belong to another request that used the same key at the same time: it must not be returned as
  // this one.
  if (claim !== null) await findFirstAnswer(em.fork(), claim);
  return refuse(
    'PROVIDER_REFUSED',
    `The provider refused the payment: ${found.order.failure_code ?? 'no reason given'}`,
  );
}

/** Replaces the texts of the order in an answer; every field keeps its place. */
const replaceTexts = (answer: GatewayAnswer, texts: PaymentTexts): GatewayAnswer =>
  'data' in answer
    ? { ...answer, data: { ...answer.data, ...texts } }
    : { ...answer, payment: { ...answer.payment, ...texts } };

/** A stored answer with the texts of its order put back in place, byte for byte the first answer. */
async function withTexts(em: EntityManager, sealer: Sealer, kept: StoredAnswer): Promise<StoredAnswer> {
  const answer: GatewayAnswer = JSON.parse(kept.body);
  const { payment_order_id: orderId } = 'data' in answer ? answer.data : answer.payment;
  const found = await findOrder(em, orderId);
  const texts = await openTexts(sealer, orderId, found?.order.texts_sealed);
  return { ...kept, body: JSON.stringify(replaceTexts(answer, texts)) };
}
