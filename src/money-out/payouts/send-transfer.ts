import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import {
  type CallOptions,
  type Gateway,
  type Gateways,
  isNeverSent,
  isProviderUnknown,
  type RefundRequest,
  restAfter,
  type TransferRequest,
} from '../../platform/gateway/gateway.ts';
import { budgets } from '../../shared/budgets.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { askTransfer, hearProvider, reportOf } from './ask-transfer.ts';
import { answerAttempt, findMadeAttempts, maySend, openAttempt } from './attempts.ts';
import { buildRequest, isFrozen, type Sending } from './frozen-request.ts';
import { Payout } from './payout.entity.ts';
import { isFinalPayout, isUnknown, type PayoutAttemptOutcome, type ProviderReport, restOf } from './payout.ts';
import { arePayoutsHeld } from './payout-switch.ts';
import { lockPayout, lookAgainLater, recordProviderStatus } from './record-provider-status.ts';
import { mayRepeat } from './repeating.ts';

/**
 * Sends a payout's transfer. Before the first request, asks the provider for the transfer, as a restored database may
 * lack an earlier request; without an answer, sends nothing. Commits the attempt before sending it; a step that finds
 * an open attempt asks instead of sending. The payout's id is reference and idempotency key, and the first attempt
 * freezes the request. Repeats the request if it provably had no effect and, a few times, if the provider has just
 * reported that it does not know the transfer (`mayRepeat`).
 */
export async function sendTransfer(
  em: EntityManager,
  sending: Sending,
  { payoutId, at, signal }: { payoutId: string; at: string; signal: AbortSignal },
): Promise<ProviderReport> {
  await failpoint('send-transfer.before');
  if (await mayNotLeave(em.fork(), sending, payoutId)) return askTransfer(em.fork(), sending, { payoutId, at, signal });
  if (await arePayoutsHeld(em.fork())) return holdBack(em, sending, { payoutId, at, signal });
  const earlier = await hearOfEarlier(em.fork(), sending.gateways, { payoutId, signal });
  if (earlier !== null && earlier.said !== 'not known') return keepEarlier(em.fork(), payoutId, earlier, new Date(at));
  const begun = await em.transactional((tx) => beginAttempt(tx, sending, payoutId, new Date(at)));
  if (begun === 'held') return holdBack(em, sending, { payoutId, at, signal });
  if (begun === 'ask') return askTransfer(em.fork(), sending, { payoutId, at, signal });
  if ('said' in begun) return begun;
  await failpoint('send-transfer.attempt-written');
  const { number, request, provider, partnerId } = begun;
  const heard = await makeRequest(sending.gateways.of(provider), request, {
    signal,
    partnerId,
    follows: earlier !== null,
    beforeSend: () => maySend(em.fork(), { payoutId, number, withinMs: budgets.provider.sendWithin }),
  });
  await failpoint('send-transfer.after');
  const report = await em.fork().transactional((tx) => keepAnswer(tx, { payoutId, number, heard, at: new Date(at) }));
  await failpoint('send-transfer.noted');
  return report;
}

/** Whether the payout must fail (`heldBy`) once the provider reports that it has no transfer. */
async function mayNotLeave(em: EntityManager, { payoutKinds }: Sending, payoutId: string): Promise<boolean> {
  const payout = await em.findOneOrFail(Payout, { id: payoutId });
  return Boolean((await payoutKinds[payout.kind].heldBy?.(em, payout))?.failureCode);
}

/**
 * While transfers are held: asks the provider about a payout that was requested; for any other, sets only its next
 * check.
 */
async function holdBack(
  em: EntityManager,
  sending: Sending,
  { payoutId, at, signal }: { payoutId: string; at: string; signal: AbortSignal },
): Promise<ProviderReport> {
  if ((await findMadeAttempts(em.fork(), payoutId)).length > 0) {
    return askTransfer(em.fork(), sending, { payoutId, at, signal });
  }
  return em.fork().transactional(async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    if (!isFinalPayout(payout.status)) await lookAgainLater(tx, payout, await readDatabaseClock(tx));
    return { said: 'unsent' };
  });
}

/**
 * The provider's status of a payout for which we have no recorded request; `unsent` if the provider cannot be asked.
 * Null if the payout was requested or is final. The transfer request that follows may exceed the call limit by one
 * (`follows`); otherwise a limited payout would be asked about each time and never sent.
 */
async function hearOfEarlier(
  em: EntityManager,
  gateways: Gateways,
  { payoutId, signal }: { payoutId: string; signal: AbortSignal },
): Promise<ProviderReport | null> {
  const payout = await em.findOneOrFail(Payout, { id: payoutId });
  if (isFinalPayout(payout.status) || (await findMadeAttempts(em, payoutId)).length > 0) return null;
  const report = await hearProvider(em, gateways, payout, signal);
  return report.said === 'silent' ? { ...report, said: 'unsent' } : report;
}

/** Records the received status instead of sending. */
function keepEarlier(em: EntityManager, payoutId: string, report: ProviderReport, at: Date): Promise<ProviderReport> {
  return em.transactional(async (tx) => {
    await recordProviderStatus(tx, await lockPayout(tx, payoutId), report, at);
    return report;
  });
}

interface Begun {
  number: number;
  request: TransferRequest | RefundRequest;
  provider: string;
  partnerId: string | null;
}

/**
 * Records the attempt, and freezes its request if it is the first. Returns `ask` if an earlier attempt may have reached
 * the provider and may not be repeated now, no request may be sent any more, or the payout is final; `held` while
 * transfers are held; a status if nothing may be sent because people have not approved it or `buildRequest` returns
 * null.
 */
async function beginAttempt(
  tx: EntityManager,
  sending: Sending,
  payoutId: string,
  at: Date,
): Promise<Begun | ProviderReport | 'ask' | 'held'> {
  const payout = await lockPayout(tx, payoutId);
  if (isFinalPayout(payout.status)) return 'ask';
  const decided = await sending.payoutKinds[payout.kind].heldBy?.(tx, payout);
  if (decided?.isHeld) return { said: 'unsent' };
  if (decided?.isBarred || decided?.failureCode) return 'ask';
  const made = await findMadeAttempts(tx, payoutId);
  if (made.length > 0) {
    const unheardOf = payout.last_word === 'not known' && !payout.provider_transfer_id;
    if (!unheardOf || !isFrozen(payout) || !mayRepeat(made, sending.resendHours)) return 'ask';
  }
  const built = await buildRequest(sending, payout);
  if (built === null) {
    const report: ProviderReport = { said: 'request differs' };
    await recordProviderStatus(tx, payout, report, at);
    return report;
  }
  const number = await openAttempt(tx, payoutId);
  if (number === null) return 'held';
  payout.request_digest = built.digest;
  await tx.flush();
  return { number, request: built.request, provider: payout.provider, partnerId: payout.partner_id ?? null };
}

async function makeRequest(
  gateway: Gateway,
  transfer: TransferRequest | RefundRequest,
  options: CallOptions,
): Promise<ProviderReport> {
  try {
    const answer = await gateway.requestTransfer(transfer, options);
    if (answer.outcome === 'refused') return { said: 'refused', failureCode: answer.code };
    return reportOf(answer.transfer, transfer.amount);
  } catch (error) {
    if (!isProviderUnknown(error)) throw error;
    return { said: isNeverSent(error) ? 'unsent' : 'silent', ...restAfter(error) };
  }
}

/**
 * Records the answer to the request. While another attempt may have reached the provider, a refusal or a request
 * without effect proves nothing about the payout.
 */
async function keepAnswer(
  tx: EntityManager,
  { payoutId, number, heard, at }: { payoutId: string; number: number; heard: ProviderReport; at: Date },
): Promise<ProviderReport> {
  const payout = await lockPayout(tx, payoutId);
  const failureCode = 'failureCode' in heard ? heard.failureCode : null;
  const { others, later } = await answerAttempt(tx, { payoutId, number, outcome: outcomeOf(heard), failureCode });
  let report = heard;
  if (others && heard.said === 'refused') report = { ...heard, said: 'repeat refused' };
  if (others && heard.said === 'unsent') report = { said: 'silent', restMs: restOf(heard) };
  // A late, inconclusive answer does not overwrite a later status.
  if (!isUnknown(report.said) || !(later || isFinalPayout(payout.status)))
    await recordProviderStatus(tx, payout, report, at);
  return report;
}

function outcomeOf({ said }: ProviderReport): PayoutAttemptOutcome {
  if (said === 'refused' || said === 'unsent') return said;
  return said === 'silent' || said === 'another amount' ? 'unknown' : 'accepted';
}
