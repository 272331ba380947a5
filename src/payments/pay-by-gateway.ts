import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import type { Caller } from '../identity/caller.ts';
import { budgets } from '../shared/budgets.ts';
import { refuse } from '../shared/errors.ts';
import { createTurns } from '../shared/turns.ts';
import type { TemporalDoor } from '../temporal/door.ts';
import { findOrder, type OrderWithChannel } from './find-orders.ts';
import { handlerOf } from './handlers/index.ts';
import type { StoredAnswer } from './idempotency.ts';
import type { PaymentOpening } from './payment-contract.ts';
import { type GatewayPaymentRequest, prepareGatewayPayment } from './prepare-gateway-payment.ts';

const turns = createTurns();

export interface GatewayAsking {
  caller: Caller;
  body: GatewayPaymentRequest;
  key: string | undefined;
  requestId: string;
}

/** The order that a request made or joined, or what was answered under its idempotency key before. */
export type GatewayPaymentOutcome =
  | { replay: StoredAnswer }
  | { found: OrderWithChannel; idempotency: PaymentOpening['idempotency'] };

/**
 * Pays by the gateway as a request asks: starts the order's workflow and waits for its instrument, at most ten seconds.
 * Refuses what `prepareGatewayPayment` and the handler's pending row refuse, with PROVIDER_REFUSED when the provider
 * does, and with SERVICE_UNAVAILABLE when nothing could be begun.
 */
export function payByGateway(
  em: EntityManager,
  { sealer, temporal }: { sealer: Sealer; temporal: Pick<TemporalDoor, 'startGatewayPayment'> },
  asking: GatewayAsking,
): Promise<GatewayPaymentOutcome> {
  const { body, caller } = asking;
  const pay = async (): Promise<GatewayPaymentOutcome> => {
    const prepared = await prepareGatewayPayment(em, sealer, asking);
    if ('replay' in prepared) return prepared;
    const { orderId, opening } = prepared;
    await temporal.startGatewayPayment(orderId, opening, budgets.requests.gatewayPayment);
    const found = await findOrder(em.fork(), orderId);
    if (found === null)
      refuse('SERVICE_UNAVAILABLE', 'The payment could not be begun; try again', { retryAfterSeconds: 2 });
    if (found.order.status === 'FAILED') {
      refuse('PROVIDER_REFUSED', `The provider refused the payment: ${found.order.failure_code ?? 'no reason given'}`);
    }
    return { found, idempotency: opening.idempotency };
  };
  const target = `${body.reference_type}/${body.reference_id}/${caller.userId}`;
  return handlerOf(body.reference_type).inTurn ? turns.take(target, pay) : pay();
}
