import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { createOnce } from '../../platform/openings/create-once.ts';
import {
  answerOf,
  arriveUnderKey,
  findFirstAnswer,
  keepFirstAnswer,
  type SentAnswer,
  type StoredAnswer,
} from '../../platform/openings/idempotency-keys.ts';
import { claimOfUser, type KeyClaim, type OpeningStamp } from '../../platform/openings/opening.ts';
import { stampOpening } from '../../platform/openings/stamp-opening.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { paymentOrderIdFor } from '../../shared/ids.ts';
import { findOrder, type OrderWithChannel } from './find-orders.ts';
import type { PaymentKinds } from './handler.ts';
import type { GatewayPaymentWorkflows, PaymentOpening } from './payment-contract.ts';
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

export interface GatewayAsking {
  caller: Caller;
  body: GatewayPaymentRequest;
  key: string | undefined;
  /** The claim on the key: from `claimOf`, or from the request that causes this payment; null without a key. */
  idempotency: PaymentOpening['idempotency'];
  requestId: string;
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
  asking: GatewayAsking,
  answer: (order: ShownOrder) => Promise<GatewayAnswer>,
): Promise<SentAnswer> {
  const claim = claimOfUser({ userId: asking.caller.userId, idempotency: asking.idempotency });
  const { stamp, made: before } =
    claim === null
      ? { stamp: await stampOpening(em, { livesMs: budgets.requests.gatewayPayment }), made: null }
      : await arriveUnderKey(em, claim);
  const replay = answerOf(before);
  if (replay !== null) return { ...(await withTexts(em, ports.sealer, replay)), replayed: true };
  const found = await orderByGateway(em, ports, asking, { claim, stamp });
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
  { body, caller, key, idempotency, requestId }: GatewayAsking,
  opening: { claim: KeyClaim | null; stamp: OpeningStamp },
): Promise<OrderWithChannel> {
  const orderId = paymentOrderIdFor(caller.userId, key);
  const unavailable = 'The payment could not be started; try again';
  const found = await createOnce(
    em,
    { resourceId: orderId, kind: 'payment_order', ...opening, isKeyed: key !== undefined, unavailable },
    {
      find: (place) => findOrder(place, orderId),
      prepare: () => prepareGatewayPayment(em, ports, { orderId, caller, body, idempotency, requestId }),
      start: (opened) => ports.workflows.startGatewayPayment(orderId, opened, budgets.requests.gatewayPayment),
    },
  );
  // An order that had its instrument failed later, by its payer: that is returned as it stands.
  if (found.order.status !== 'FAILED' || found.order.provider_payment_request_id) return found;
  // The order joined may belong to another request that used the same key at the same time: it must not be returned as
  // this one.
  if (opening.claim !== null) await findFirstAnswer(em.fork(), opening.claim);
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
