import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { findOrder } from './find-orders.ts';
import type { StoredAnswer } from './idempotency.ts';
import { openTexts, type PaymentTexts } from './prepare-gateway-payment.ts';

/** What an answer to a gateway payment has at least; its other fields keep their places. */
interface GatewayAnswer {
  data: PaymentTexts & { payment_order_id: string };
}

/** The answer to a payment as it is kept under its key: the payer's texts rest sealed, in the order alone. */
export const withoutTexts = <T extends GatewayAnswer>(answer: T): T => ({
  ...answer,
  data: { ...answer.data, transaction_name: '', transaction_desc: '' },
});

/** A kept answer with the texts of its order put back where they were, so that it is the first one byte for byte. */
export async function withTexts<T extends StoredAnswer>(em: EntityManager, sealer: Sealer, kept: T): Promise<T> {
  const answer: GatewayAnswer = JSON.parse(kept.body);
  const { payment_order_id: orderId } = answer.data;
  const found = await findOrder(em, orderId);
  const texts = await openTexts(sealer, orderId, found?.order.texts_sealed);
  return { ...kept, body: JSON.stringify({ ...answer, data: { ...answer.data, ...texts } }) };
}
