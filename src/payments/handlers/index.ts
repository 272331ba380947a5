import type { PaymentHandler } from '../handler.ts';
import type { ReferenceType } from '../payment-order.ts';
import { accountTopUp } from './account-top-up.ts';

/** The handler table: one line for each kind of payment. */
export const handlers: readonly PaymentHandler[] = [accountTopUp];

const byReferenceType = new Map(handlers.map((handler) => [handler.referenceType, handler]));

/** The handler of a reference type, or undefined when nothing handles it. */
export const handlerOf = (referenceType: ReferenceType): PaymentHandler | undefined =>
  byReferenceType.get(referenceType);
