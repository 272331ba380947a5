import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { findFirstAnswer, type StoredAnswer } from '../../platform/idempotency/idempotency.ts';
import { createOnce } from '../../platform/openings/create-once.ts';
import { stampOpening } from '../../platform/openings/stamp-opening.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Caller } from '../../shared/caller.ts';
import { createKeyedMutex } from '../../shared/concurrency.ts';
import { refuse } from '../../shared/errors.ts';
import { paymentOrderIdFor } from '../../shared/ids.ts';
import { claimOfUser } from '../../shared/opening.ts';
import { findOrder, type OrderWithChannel } from './find-orders.ts';
import type { PaymentKinds } from './handler.ts';
import type { GatewayPaymentWorkflows, PaymentOpening } from './payment-contract.ts';
import { type GatewayPaymentRequest, prepareGatewayPayment } from './prepare-gateway-payment.ts';

const mutex = createKeyedMutex();

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

/** The order that a request made or joined, or the stored answer under its idempotency key. */
export type GatewayPaymentOutcome = { replay: StoredAnswer } | { found: OrderWithChannel };

/**
 * Pays by the gateway: starts the order's workflow and waits at most ten seconds for its instrument. Throws what
 * `prepareGatewayPayment` and the handler's pending row refuse, PROVIDER_REFUSED when the provider does, and
 * SERVICE_UNAVAILABLE when nothing could be started.
 */
export async function payByGateway(
  em: EntityManager,
  ports: GatewayPorts,
  asking: GatewayAsking,
): Promise<GatewayPaymentOutcome> {
  const { body, caller, key, idempotency, requestId } = asking;
  const orderId = paymentOrderIdFor(caller.userId, key);
  const claim = claimOfUser({ userId: caller.userId, idempotency });
  /** The stored answer under the key; throws when the key belongs to another request. */
  const findReplay = async () => claim && findFirstAnswer(em.fork(), claim);
  const waitMs = budgets.requests.gatewayPayment;
  const stamp = await stampOpening(em, key === undefined ? { livesMs: waitMs } : {});
  const pay = async (leftMs: number): Promise<GatewayPaymentOutcome> => {
    const replay = await findReplay();
    if (replay !== null) return { replay };
    const found = await createOnce(
      em,
      {
        resourceId: orderId,
        kind: 'payment_order',
        claim,
        stamp,
        isKeyed: key !== undefined,
        unavailable: 'The payment could not be started; try again',
      },
      {
        find: (place) => findOrder(place, orderId),
        prepare: () => prepareGatewayPayment(em, ports, { orderId, caller, body, idempotency, requestId }),
        start: (opening) => ports.workflows.startGatewayPayment(orderId, opening, leftMs),
      },
    );
    // An order that had its instrument failed later, by its payer: that is returned as it stands.
    if (found.order.status === 'FAILED' && !found.order.provider_payment_request_id) {
      // The order joined may belong to another request that used the same key at the same time: it must not be returned
      // as this one.
      await findReplay();
      refuse('PROVIDER_REFUSED', `The provider refused the payment: ${found.order.failure_code ?? 'no reason given'}`);
    }
    return { found };
  };
  const target = `${body.reference_type}/${body.reference_id}/${caller.userId}`;
  return ports.paymentKinds[body.reference_type].inTurn ? mutex.take(target, waitMs, pay) : pay(waitMs);
}
