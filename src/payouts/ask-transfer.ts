import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { type Gateway, isProviderUnknown, restAfter } from '../gateway/gateway.ts';
import { failpoint } from '../shared/failpoint.ts';
import { compareMoney, type Money } from '../shared/money.ts';
import { closeAttempt, findMadeAttempts } from './attempts.ts';
import { buildRequest, isFrozen, type Sending } from './frozen-request.ts';
import { lockPayout, noteWord } from './note-word.ts';
import { Payout } from './payout.entity.ts';
import { isFinalPayout, type TransferWord } from './payout.ts';
import { type MadeAttempt, mayBeUnderWayMs, mayRepeat } from './repeating.ts';

/** The provider's status of a payout's transfer, asked by reference; silence is an answer too. Writes nothing. */
export async function hearProvider(
  gateway: Gateway,
  { payoutId, amount, signal }: { payoutId: string; amount: Money; signal: AbortSignal },
): Promise<TransferWord> {
  try {
    const transfer = await gateway.findTransfer(payoutId, { signal });
    if (transfer === null) return { said: 'not known' };
    const { status, providerTransferId, failureCode } = transfer;
    return compareMoney(transfer.amount, amount) === 0
      ? { said: status, providerTransferId, failureCode }
      : { said: 'another amount', providerTransferId };
  } catch (error) {
    if (!isProviderUnknown(error)) throw error;
    return { said: 'silent', ...restAfter(error) };
  }
}

/**
 * Asks the provider what became of a payout, and records the answer. Where the provider does not know the transfer, the
 * answer says what follows: the same request may be repeated, or a refusal stands. `at` (ISO 8601) is the workflow's
 * clock.
 */
export async function askTransfer(
  em: EntityManager,
  sending: Sending,
  { payoutId, at, signal }: { payoutId: string; at: string; signal: AbortSignal },
): Promise<TransferWord> {
  const { net_amount: amount } = await em.findOneOrFail(Payout, { id: payoutId });
  const askedAt = await readDatabaseClock(em);
  const heard = await hearProvider(sending.gateway, { payoutId, amount, signal });
  const word = await em.fork().transactional(async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    const concluded = heard.said === 'not known' ? await concludeFromIgnorance(tx, sending, payout, askedAt) : heard;
    await noteWord(tx, payout, concluded, new Date(at));
    return concluded;
  });
  await failpoint('ask-transfer.after');
  return word;
}

/** What follows when the provider, asked at `askedAt` (the database's clock), does not know the transfer. */
async function concludeFromIgnorance(
  tx: EntityManager,
  sending: Sending,
  payout: Payout,
  askedAt: Date,
): Promise<TransferWord> {
  const nothing = { said: 'not known' } as const;
  // A transfer that the provider has once known is not undone when the provider no longer finds it.
  if (isFinalPayout(payout.status) || payout.provider_transfer_id) return nothing;
  const payoutId = payout.id;
  const before = await findMadeAttempts(tx, payoutId);
  const last = before.at(-1);
  if (last !== undefined) await closeAttempt(tx, { payoutId, number: last.number, askedAt });
  const made = await findMadeAttempts(tx, payoutId);
  if (standsRefused(made)) return { said: 'refused', failureCode: last?.failureCode ?? 'UNKNOWN' };
  if (made.length > 0 && !isFrozen(payout)) return nothing;
  const { differs } = await buildRequest(sending, payout);
  if (differs) return { said: 'request differs' };
  return mayRepeat(made, sending.resendHours) ? { said: 'not known', repeat: true } : nothing;
}

/**
 * Whether the refusal of the last request is final: at once when it was the only request, otherwise when the provider,
 * asked long enough after the refusal, knows none of the earlier ones.
 */
function standsRefused(made: readonly MadeAttempt[]): boolean {
  const last = made.at(-1);
  if (last?.outcome !== 'refused') return false;
  if (made.length === 1) return true;
  const { notKnownAgeMs, answeredAgeMs } = last;
  return notKnownAgeMs !== null && (answeredAgeMs ?? 0) - notKnownAgeMs >= mayBeUnderWayMs;
}
