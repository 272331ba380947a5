import type { EntityManager } from '@mikro-orm/postgresql';
import { accountsOfSettlement, systemAccounts } from '../../ledger/accounts/account.ts';
import { holdBalances } from '../../ledger/lock-order.ts';
import { postJournal } from '../../ledger/post-journal.ts';
import { Partner } from '../../partners/partner.entity.ts';
import { type DueBy, earliness, readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { assert, must } from '../../shared/assert.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { journalKeys } from '../../shared/ids.ts';
import { compareMoney, negateMoney, subtractMoney } from '../../shared/money.ts';
import { strayOf } from '../payments/confirm-payment.ts';
import { hasReceipt } from '../payments/find-receipts.ts';
import type { ConfirmedPayment, ReceiptWorkflows } from '../payments/payment-contract.ts';
import { applyReceipt } from '../payments/settle-payment.ts';
import { finishPayment, lockPayment, standingOf } from './finish-partner-payment.ts';
import type { PartnerPayment } from './partner-payment.entity.ts';
import { isFinalPayment, type PartnerPaymentStep, type ReleaseStep } from './partner-payment.ts';
import { tellPayment } from './tell-payment.ts';

/**
 * Settles a paid payment once: the partner is owed the net in `pending`, the fee is revenue, and the provider owes us
 * the gross less its own fee; receipt, event and webhook are written in the same transaction. Without a settlement
 * delay the net is available at once. `received.amount` (IDR, scale 4) must equal the gross, as confirmed by the
 * provider. If no payment is confirmed (null), or the money already has a receipt, does nothing, and the caller asks
 * again. For money paid to a final payment, starts a receipt workflow before returning.
 */
export async function settlePartnerPayment(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: ReceiptWorkflows },
  { paymentId, payment: received }: { paymentId: string; payment: ConfirmedPayment | null },
): Promise<PartnerPaymentStep> {
  /** Whether to start the money's receipt workflow, or wake it because the money has left suspense. */
  let hasCase = false;
  let provider = '';
  const step = await em.transactional(async (tx): Promise<PartnerPaymentStep> => {
    const payment = await lockPayment(tx, paymentId);
    if (received === null) return standingOf(tx, payment);
    const { id: reference, amount } = payment;
    provider = payment.provider;
    const isKnown = await hasReceipt(tx, received.providerPaymentId, { reference, amount });
    const isFinal = isFinalPayment(payment.status);
    hasCase = isFinal && !isKnown;
    if (isFinal || isKnown) return standingOf(tx, payment);
    const settled = await settleOpenPayment(tx, sealer, payment, received);
    hasCase = settled.hasCase;
    return settled.step;
  });
  await failpoint('settle-partner-payment.after');
  if (received !== null && hasCase) await workflows.openUnmatchedReceipt(strayOf(provider, received));
  return step;
}

/**
 * Settles an open, locked payment in the caller's transaction, with money that has no receipt yet. `hasCase`: the money
 * left suspense, so its receipt workflow can complete.
 */
export async function settleOpenPayment(
  tx: EntityManager,
  sealer: Sealer,
  payment: PartnerPayment,
  received: ConfirmedPayment,
): Promise<{ step: PartnerPaymentStep; hasCase: boolean }> {
  assert(compareMoney(received.amount, payment.amount) === 0, 'a payment is settled with exactly its gross');
  const partner = await tx.findOneOrFail(Partner, { id: payment.partner_id });
  const now = await readDatabaseClock(tx);
  const hasCase = await applyReceipt(tx, { payment: received, partnerPaymentId: payment.id });
  const { pending_account_id: pending, available_account_id: available } = partner;
  const isReleased = partner.settlement_delay_hours === 0;
  if (isReleased) {
    await holdBalances(tx, { debited: [pending], credited: [...accountsOfSettlement, pending, available] });
  }
  const journalId = must(
    await postJournal(tx, {
      kind: 'partner-payment.settled',
      businessKey: journalKeys.partnerPaymentSettled(payment.id),
      postings: [
        {
          accountId: systemAccounts.gatewayClearing,
          amount: negateMoney(subtractMoney(payment.amount, payment.provider_fee)),
        },
        { accountId: systemAccounts.providerCost, amount: negateMoney(payment.provider_fee) },
        { accountId: partner.pending_account_id, amount: payment.net_amount },
        { accountId: systemAccounts.feeRevenue, amount: payment.fee },
      ],
    }),
    'an open payment has no settlement journal',
  );
  payment.available_at = new Date(now.getTime() + partner.settlement_delay_hours * 3_600_000);
  if (isReleased) await release(tx, payment, partner, now);
  // After a restore the payment may have several requests under its reference; refunds go to the wallet that paid.
  if (received.providerPaymentRequestId) {
    payment.provider_payment_request_id = received.providerPaymentRequestId;
    payment.provider_payment_method_id = received.providerPaymentMethodId;
  }
  const end = {
    status: 'PAID',
    type: 'payment.succeeded',
    failureCode: null,
    data: { journal_id: journalId },
    at: now,
  } as const;
  const finished = await finishPayment(tx, sealer, payment, end);
  if (!isReleased) return { step: finished, hasCase };
  const told = await tellPayment(tx, sealer, payment, { type: 'payment.available', at: now });
  return { step: { ...finished, deliveryIds: [...finished.deliveryIds, ...told] }, hasCase };
}

/**
 * Moves a paid net from `pending` to `available` once, with a webhook to each subscribed endpoint. If called too early,
 * changes nothing and returns the remaining milliseconds, by the database's clock.
 */
export function releasePartnerPayment(
  em: EntityManager,
  sealer: Sealer,
  { paymentId }: { paymentId: string },
  dueBy: DueBy,
): Promise<ReleaseStep> {
  return em.transactional(async (tx) => {
    const payment = await lockPayment(tx, paymentId);
    if (payment.status !== 'PAID' || payment.released_at) return standingOf(tx, payment);
    const earlyByMs = await earliness(tx, must(payment.available_at, 'a paid payment has available_at'), dueBy);
    if (earlyByMs > 0) return { ...(await standingOf(tx, payment)), earlyByMs };
    const partner = await tx.findOneOrFail(Partner, { id: payment.partner_id });
    const now = await readDatabaseClock(tx);
    await release(tx, payment, partner, now);
    const deliveryIds = await tellPayment(tx, sealer, payment, { type: 'payment.available', at: now });
    return { status: payment.status, deliveryIds, availableAt: null };
  });
}

async function release(tx: EntityManager, payment: PartnerPayment, partner: Partner, at: Date): Promise<void> {
  const posted = await postJournal(tx, {
    kind: 'partner-payment.released',
    businessKey: journalKeys.partnerPaymentReleased(payment.id),
    postings: [
      { accountId: partner.pending_account_id, amount: negateMoney(payment.net_amount) },
      { accountId: partner.available_account_id, amount: payment.net_amount },
    ],
  });
  assert(posted !== null, 'an unreleased net has no release journal');
  payment.released_at = payment.updated_at = at;
}
