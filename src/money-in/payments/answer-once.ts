import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { keepFirstAnswer, type StoredAnswer } from '../../platform/idempotency/idempotency.ts';
import { findOrder } from './find-orders.ts';
import type { PaymentOpening } from './payment-contract.ts';
import { openTexts, type PaymentTexts } from './prepare-gateway-payment.ts';

type OrderAnswer = PaymentTexts & { payment_order_id: string };

/** The answer to a gateway payment: the order is at `data`, or at `payment` for a contribution to a circle. */
type GatewayAnswer = { data: OrderAnswer } | { payment: OrderAnswer };

/** Replaces the texts of the order in an answer; every field keeps its place. */
function replaceTexts(answer: GatewayAnswer, texts: PaymentTexts): GatewayAnswer {
  return 'data' in answer
    ? { ...answer, data: { ...answer.data, ...texts } }
    : { ...answer, payment: { ...answer.payment, ...texts } };
}

/** The answer to a payment as it is stored under its key: the payer's texts are stored only in the order, sealed. */
const withoutTexts = (answer: GatewayAnswer): GatewayAnswer =>
  replaceTexts(answer, { transaction_name: '', transaction_desc: '' });

/** A stored answer with the texts of its order put back in place, byte for byte the first answer. */
export async function withTexts<T extends StoredAnswer>(em: EntityManager, sealer: Sealer, kept: T): Promise<T> {
  const answer: GatewayAnswer = JSON.parse(kept.body);
  const { payment_order_id: orderId } = 'data' in answer ? answer.data : answer.payment;
  const found = await findOrder(em, orderId);
  const texts = await openTexts(sealer, orderId, found?.order.texts_sealed);
  return { ...kept, body: JSON.stringify(replaceTexts(answer, texts)) };
}

/**
 * The answer to a gateway payment as it is sent: under a key the first answer is stored and repeated from then on.
 * Throws IDEMPOTENCY_KEY_REUSED when the key belongs to another request.
 */
export async function answerOnce(
  em: EntityManager,
  sealer: Sealer,
  { userId, idempotency }: Pick<PaymentOpening, 'userId' | 'idempotency'>,
  answer: GatewayAnswer,
): Promise<StoredAnswer & { replayed: boolean }> {
  if (idempotency === null) return { status: 201, body: JSON.stringify(answer), replayed: false };
  const made = { status: 201, body: JSON.stringify(withoutTexts(answer)) };
  const { first, ...kept } = await withTexts(em, sealer, await keepFirstAnswer(em, { userId, ...idempotency }, made));
  return { ...kept, replayed: !first };
}
