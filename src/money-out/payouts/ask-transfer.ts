import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { type Gateways, isProviderUnknown, restAfter, type TransferState } from '../../platform/gateway/gateway.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import { closeAttempt, findMadeAttempts } from './attempts.ts';
import { buildRequest, isFrozen, type Sending } from './frozen-request.ts';
import { Payout } from './payout.entity.ts';
import { isFinalPayout, noReasonGiven, type ProviderReport, restOf } from './payout.ts';
import { arePayoutsHeld } from './payout-switch.ts';
import { lockPayout, lookAgainLater, recordProviderStatus } from './record-provider-status.ts';
import { mayRepeat } from './repeating.ts';
import { fail } from './resolve-payout.ts';

/**
 * The provider's report on a payout's transfer. `another amount` applies only if the transfer neither failed nor was
 * returned.
 */
export function reportOf(
  { status, amount, providerTransferId, failureCode }: TransferState,
  asked: Money,
): ProviderReport {
  const isLive = status === 'accepted' || status === 'succeeded';
  return isLive && compareMoney(amount, asked) !== 0
    ? { said: 'another amount', providerTransferId, amount, isMade: status === 'succeeded' }
    : { said: status, providerTransferId, failureCode };
}

/** The amount of a payout's transfer (IDR, scale 4) if the provider reports it succeeded; otherwise null. */
export function amountMade(report: ProviderReport, asked: Money): Money | null {
  if (report.said === 'another amount') return report.isMade ? report.amount : null;
  return report.said === 'succeeded' ? asked : null;
}

/**
 * Asks the provider, by reference, for the status of a payout's transfer; `silent` without an answer. A refund that it
 * does not know is also looked up the other way, as a transfer or as a refund to the wallet: before a restore the same
 * request may have been sent that way. Writes nothing.
 */
export async function hearProvider(
  em: EntityManager,
  gateways: Gateways,
  payout: Payout,
  signal: AbortSignal,
): Promise<ProviderReport> {
  const { id, net_amount: amount, refund_of: refundOf, provider_transfer_id: known } = payout;
  const partnerId = payout.partner_id ?? null;
  const find = (way: string | null | undefined) =>
    gateways.of(payout.provider).findTransfer(id, { signal, refundOf: way, partnerId, known });
  try {
    let transfer = await find(refundOf);
    if (transfer === null && payout.kind === 'payment_refund') {
      const wallet = refundOf ? null : await findWallet(em, id);
      if (refundOf || wallet) transfer = await find(wallet);
    }
    if (transfer === null) return { said: 'not known' };
    const further = transfer.further.length > 0 ? { further: transfer.further } : {};
    return { ...reportOf(transfer, amount), ...further };
  } catch (error) {
    if (!isProviderUnknown(error)) throw error;
    return { said: 'silent', ...restAfter(error) };
  }
}

/** The provider's id of the payment request of a refunded payment, if refunds may go to the wallet that paid it. */
async function findWallet(em: EntityManager, refundId: string): Promise<string | null> {
  const [paid] = await em.execute<{ wallet: string | null }[]>(
    `select p.provider_payment_request_id as wallet from payment_refunds r
     join partner_payments p on p.id = r.payment_id join payment_channels c on c.id = p.channel_id
     where r.id = ? and c.refundable`,
    [refundId],
  );
  return paid?.wallet ?? null;
}

/**
 * Asks the provider for a payout's status, and records the answer. If the provider does not know the transfer, returns
 * what follows: the same request may be repeated, or the refusal of the only request stands. `at` (ISO 8601) is the
 * workflow's clock.
 */
export async function askTransfer(
  em: EntityManager,
  sending: Sending,
  { payoutId, at, signal }: { payoutId: string; at: string; signal: AbortSignal },
): Promise<ProviderReport> {
  const asked = await em.findOneOrFail(Payout, { id: payoutId });
  const askedAt = await readDatabaseClock(em);
  const heard = await hearProvider(em, sending.gateways, asked, signal);
  const report = await em.fork().transactional(async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    const isUnheardOf = heard.said === 'not known' || heard.said === 'silent';
    if (isUnheardOf && !isFinalPayout(payout.status) && (await findMadeAttempts(tx, payoutId)).length === 0) {
      return keepUnsent(tx, sending, payout, { heard, at: new Date(at) });
    }
    const concluded = heard.said === 'not known' ? await concludeFromIgnorance(tx, sending, payout, askedAt) : heard;
    await recordProviderStatus(tx, payout, concluded, new Date(at));
    return concluded;
  });
  await failpoint('ask-transfer.after');
  return report;
}

/**
 * Handles a pending payout that was never requested, and about which the provider is silent or reports no transfer.
 * Records no status while the payout waits for people or may be sent now. If it may no longer be sent, fails it in this
 * transaction: the provider has just been asked, in case a restore lost a request.
 */
async function keepUnsent(
  tx: EntityManager,
  sending: Sending,
  payout: Payout,
  { heard, at }: { heard: ProviderReport; at: Date },
): Promise<ProviderReport> {
  const { heldBy } = sending.payoutKinds[payout.kind];
  const before = await heldBy?.(tx, payout);
  if (before?.isHeld) {
    await lookAgainLater(tx, payout, await readDatabaseClock(tx), restOf(heard));
    return { said: 'unsent' };
  }
  const report: ProviderReport =
    heard.said === 'silent'
      ? { ...heard, said: 'unsent' }
      : await concludeFromIgnorance(tx, sending, payout, await readDatabaseClock(tx));
  const maySend = report.said === 'not known' && !before?.isBarred && !before?.failureCode;
  if (maySend) {
    await lookAgainLater(tx, payout, await readDatabaseClock(tx));
    return report;
  }
  await recordProviderStatus(tx, payout, report, at);
  const held = report.said === 'not known' ? await heldBy?.(tx, payout) : undefined;
  if (held?.failureCode) await fail(tx, sending, payout, held.failureCode);
  return report;
}

/** What follows if the provider, asked at `askedAt` (the database's clock), does not know the transfer. */
async function concludeFromIgnorance(
  tx: EntityManager,
  sending: Sending,
  payout: Payout,
  askedAt: Date,
): Promise<ProviderReport> {
  const nothing = { said: 'not known' } as const;
  // If the provider once knew the transfer, its absence now does not prove that it had no effect.
  if (isFinalPayout(payout.status) || payout.provider_transfer_id) return nothing;
  const payoutId = payout.id;
  const before = await findMadeAttempts(tx, payoutId);
  const last = before.at(-1);
  if (last !== undefined) await closeAttempt(tx, { payoutId, number: last.number, askedAt });
  const made = await findMadeAttempts(tx, payoutId);
  // The refusal of the only request is final. The refusal of a repetition proves nothing about an earlier request,
  // which may still be carried out however long the provider does not know it.
  if (made.length === 1 && last?.outcome === 'refused') {
    return { said: 'refused', failureCode: last.failureCode ?? noReasonGiven };
  }
  if (made.length > 0 && !isFrozen(payout)) return nothing;
  const held = await sending.payoutKinds[payout.kind].heldBy?.(tx, payout);
  if (held?.isBarred || held?.failureCode) return nothing;
  if ((await buildRequest(sending, payout)) === null) return { said: 'request differs' };
  const repeats = mayRepeat(made, sending.resendHours) && !(await arePayoutsHeld(tx));
  return repeats ? { said: 'not known', repeat: true } : nothing;
}
