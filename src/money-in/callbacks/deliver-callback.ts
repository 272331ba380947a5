import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { noteUnknownTransfer } from '../../money-out/payouts/beyond-ours.ts';
import { CallbackRow } from '../../platform/callbacks/callback.entity.ts';
import { bodyKept } from '../../platform/callbacks/forget-bodies.ts';
import { withTime } from '../../platform/database/database-time-outs.ts';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import { type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import { budgets } from '../../shared/budgets.ts';
import { strayOf } from '../payments/confirm-payment.ts';
import { hasReceipt } from '../payments/find-receipts.ts';
import type { CallbackWorkflows, FindOwner } from './callback-workflows.ts';

/** What delivering a callback needs. */
export interface CallbackPorts {
  workflows: CallbackWorkflows;
  gateways: Gateways;
  findOwner: FindOwner;
}

/** Younger callbacks are still being delivered by the request that stored them. */
const redeliveryAgeSeconds = 5;

/**
 * Delivers one stored callback to its workflow and marks it delivered; this also deletes its body if it concerns an
 * erased person. Can be repeated safely: a signal is only a hint, and unmatched money gets only one case. Throws when
 * Temporal is unreachable.
 */
export async function deliverCallback(em: EntityManager, ports: CallbackPorts, callbackId: string): Promise<void> {
  const callback = await em.findOneOrFail(CallbackRow, { id: callbackId });
  if (callback.delivered_at || callback.unread) return;
  const [counted] = await em.execute<{ attempts: number }[]>(
    'update gateway_callbacks set attempts = attempts + 1 where id = ? and delivered_at is null returning attempts',
    [callback.id],
  );
  if (counted === undefined) return;
  const { attempts } = counted;
  await route(em, ports, callback);
  const body_sealed = bodyKept(callback.reference);
  // If `attempts` has changed (the payment became final, or another delivery runs), the callback is delivered again.
  await em.nativeUpdate(
    CallbackRow,
    { id: callback.id, attempts },
    { delivered_at: raw('clock_timestamp()'), ...(body_sealed && { body_sealed }) },
  );
}

/**
 * Signals the workflow of the callback's reference. Asks the provider about an unknown transfer: one whose reference
 * belongs to no payout, even if it belongs to a payment. A payment by another payment method than the owner's opens a
 * case, which asks the provider who owns it: a callback's reference, amount and status are not trusted.
 */
async function route(
  em: EntityManager,
  { workflows, gateways, findOwner }: CallbackPorts,
  callback: CallbackRow,
): Promise<void> {
  const { provider, reference, provider_payment_id: paymentId, provider_payment_method_id: methodId } = callback;
  if (!reference) return;
  const owner = await findOwner(em, { provider, reference });
  if (owner?.isOpen) await owner.hint(workflows);
  if (callback.kind === 'transfer' && owner?.collection !== null) {
    const refundOf = callback.provider_payment_request_id ?? null;
    await noteUnknownTransfer(em, gateways, { provider, reference, refundOf });
  }
  if (callback.kind !== 'payment') return;
  // Without the provider's ids there is no payment to look up, so signal a final owner too: its run reads all payments.
  if (!paymentId || !methodId) return owner?.isOpen ? undefined : owner?.hint(workflows);
  const isMine = owner?.isOpen && owner.collection?.providerPaymentMethodId === methodId;
  if (isMine || (await hasReceipt(em, paymentId))) return;
  const stray = { providerPaymentId: paymentId, providerPaymentMethodId: methodId };
  await workflows.openUnmatchedReceipt(strayOf(provider, stray));
}

/**
 * Delivers stored, undelivered callbacks, each at growing intervals, so that failing callbacks do not delay others.
 * Returns how many were delivered.
 */
export function redeliverCallbacks(em: EntityManager, ports: CallbackPorts, failed: SweepFailure): Promise<number> {
  const due = `select id, received_at as since from gateway_callbacks where delivered_at is null and unread is null
    and received_at < now() - interval '${redeliveryAgeSeconds} seconds'`;
  const wake = (id: string) => deliverCallback(em.fork(), ports, id);
  return sweepRows(em, [{ kind: 'callback', due, wake }], failed);
}

/**
 * Marks delivered payment callbacks of the last two days without a receipt as undelivered. Called after Temporal lost
 * its data: the signalled workflows may not have asked the provider yet. Reconciliation finds older payments. Returns
 * how many it marked.
 */
export async function redeliverUnreceipted(em: EntityManager): Promise<number> {
  let redelivered = 0;
  // One hour at a time keeps each statement within its time-out.
  for (let hour = 48; hour > 0; hour -= 1) {
    const rows = await withTime(em, budgets.database.sweep, (tx) =>
      tx.execute<unknown[]>(
        `update gateway_callbacks c set delivered_at = null
         where c.id > (select uuidv7(make_interval(hours => ?))) and c.id <= (select uuidv7(make_interval(hours => ?)))
           and c.kind = 'payment' and c.delivered_at is not null
           and not exists (select from receipts r where r.provider_payment_id = c.provider_payment_id) returning 1`,
        [-hour, 1 - hour],
      ),
    );
    redelivered += rows.length;
  }
  return redelivered;
}
