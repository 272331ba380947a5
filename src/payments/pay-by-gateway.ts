import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import type { Caller } from '../identity/caller.ts';
import { createOnce } from '../openings/create-once.ts';
import { budgets } from '../shared/budgets.ts';
import { createKeyedMutex } from '../shared/concurrency.ts';
import { refuse } from '../shared/errors.ts';
import { paymentOrderIdFor } from '../shared/ids.ts';
import { findOrder, type OrderWithChannel } from './find-orders.ts';
import { handlerOf } from './handlers/index.ts';
import { findFirstAnswer, type StoredAnswer } from './idempotency.ts';
import type { GatewayPaymentWorkflows, PaymentOpening } from './payment-contract.ts';
import { type GatewayPaymentRequest, prepareGatewayPayment } from './prepare-gateway-payment.ts';

const mutex = createKeyedMutex();

export interface GatewayAsking {
  caller: Caller;
  body: GatewayPaymentRequest;
  key: string | undefined;
  /** What is kept of the key: `claimOf`, or of the request that asks for this payment; null without one. */
  idempotency: PaymentOpening['idempotency'];
  requestId: string;
}

/** The order that a request made or joined, or what was answered under its idempotency key before. */
export type GatewayPaymentOutcome = { replay: StoredAnswer } | { found: OrderWithChannel };

/**
 * Pays by the gateway as a request asks: starts the order's workflow and waits for its instrument, at most ten seconds.
 * Refuses what `prepareGatewayPayment` and the handler's pending row refuse, with PROVIDER_REFUSED when the provider
 * does, and with SERVICE_UNAVAILABLE when nothing could be begun.
 */
export function payByGateway(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<GatewayPaymentWorkflows, 'startGatewayPayment'> },
  asking: GatewayAsking,
): Promise<GatewayPaymentOutcome> {
  const { body, caller, key, idempotency, requestId } = asking;
  const orderId = paymentOrderIdFor(caller.userId, key);
  /** The answer that the key has already; refuses a key of another request. */
  const findReplay = async () =>
    idempotency === null ? null : findFirstAnswer(em.fork(), { userId: caller.userId, ...idempotency });
  const waitMs = budgets.requests.gatewayPayment;
  const pay = async (leftMs: number): Promise<GatewayPaymentOutcome> => {
    const replay = await findReplay();
    if (replay !== null) return { replay };
    const found = await createOnce(
      em,
      {
        resourceId: orderId,
        kind: 'payment_order',
        isKeyed: key !== undefined,
        unavailable: 'The payment could not be begun; try again',
      },
      {
        find: (place) => findOrder(place, orderId),
        prepare: () => prepareGatewayPayment(em, sealer, { orderId, caller, body, idempotency, requestId }),
        start: (opening) => workflows.startGatewayPayment(orderId, opening, leftMs),
      },
    );
    // One that had its instrument was opened, and its payer declined: it is told as it stands.
    if (found.order.status === 'FAILED' && !found.order.provider_payment_request_id) {
      // What was joined may be a payment that the same key was used for at the same time: never told as this one.
      await findReplay();
      refuse('PROVIDER_REFUSED', `The provider refused the payment: ${found.order.failure_code ?? 'no reason given'}`);
    }
    return { found };
  };
  const target = `${body.reference_type}/${body.reference_id}/${caller.userId}`;
  return handlerOf(body.reference_type).inTurn ? mutex.take(target, waitMs, pay) : pay(waitMs);
}
