import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { type Posting, postJournal } from '../../ledger/post-journal.ts';
import { findPendingWebhooks } from '../../partners/webhooks/record-webhook.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { nextPayoutLookAt, operatorsAfterMs } from '../../shared/asking-intervals.ts';
import { assert, must } from '../../shared/assert.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { journalKeys } from '../../shared/ids.ts';
import { addMoney, negateMoney } from '../../shared/money.ts';
import { canMove } from '../../shared/status-law.ts';
import { readAskedSince } from './attempts.ts';
import type { MovingPorts } from './handling.ts';
import { showPayoutTexts } from './open-payout-texts.ts';
import type { Payout } from './payout.entity.ts';
import {
  finalOutcomeOf,
  isFinalPayout,
  isReturnUnbooked,
  noReasonGiven,
  type PayoutStanding,
  type PayoutStatus,
  payoutFamilyOf,
  payoutLaw,
  resourceTypeOf,
} from './payout.ts';
import { lockPayout } from './record-provider-status.ts';
import { standingOf } from './standing-of.ts';

/**
 * Applies the provider's status to the payout once: spends or returns the reservation, or reverses a success. Uses the
 * status that the receiving step recorded, because data from Temporal proves nothing. A final payout changes only by a
 * reversal after success. An unknown outcome changes nothing, but a long delay is reported.
 */
export async function resolvePayout(
  em: EntityManager,
  ports: MovingPorts,
  { payoutId }: { payoutId: string },
): Promise<PayoutStanding> {
  await failpoint('resolve-payout.before');
  const standing = await em.transactional(async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    // If this step is a retry, the payout may be final, with its webhooks recorded but not started.
    const deliveryIds = isFinalPayout(payout.status) ? await findUntold(tx, payout) : [];
    const outcome = payout.last_word ? finalOutcomeOf({ said: payout.last_word }) : null;
    if (payout.status === 'pending' && outcome !== null) {
      const ended =
        outcome === 'succeeded'
          ? await succeed(tx, ports, payout)
          : await fail(tx, ports, payout, await readFailureCode(tx, payout));
      deliveryIds.push(...ended);
    }
    const held = await ports.payoutKinds[payout.kind].heldBy?.(tx, payout);
    deliveryIds.push(...(await reverseIfReturned(tx, ports, payout)));
    deliveryIds.push(...(await tellDelay(tx, ports, payout)));
    const reservedAt = (await readAskedSince(tx, payout)).toISOString();
    return { ...standingOf(payout, deliveryIds), reservedAt, ...(held?.isHeld && { isHeld: true }) };
  });
  await failpoint('resolve-payout.after');
  return standing;
}

/** Reports once that the outcome has been unknown for ten minutes. If the result is lost, a sweep finds the webhook. */
async function tellDelay(tx: EntityManager, ports: MovingPorts, payout: Payout): Promise<string[]> {
  const { status, unknown_since: since, delay_told_at: told } = payout;
  const { delayed } = ports.payoutKinds[payout.kind];
  if (status !== 'pending' || !since || told || !delayed) return [];
  const at = await readDatabaseClock(tx);
  if (at.getTime() - since.getTime() < operatorsAfterMs) return [];
  payout.delay_told_at = at;
  const ids = await delayed(tx, ports.sealer, payout, { at });
  await tx.flush();
  return ids;
}

/** The recorded, undelivered webhooks about a payout. */
export async function findUntold(tx: EntityManager, { id, kind }: Payout): Promise<string[]> {
  const resourceType = resourceTypeOf[kind];
  return resourceType === 'withdrawal' ? [] : findPendingWebhooks(tx, { resourceType, resourceId: id });
}

/** The failure code of the provider's last status. */
async function readFailureCode(tx: EntityManager, { id, last_word }: Payout): Promise<string> {
  const [report] = await tx.execute<{ failure_code: string | null }[]>(
    'select failure_code from payout_words where payout_id = ? and said = ? order by id desc limit 1',
    [id, last_word],
  );
  return report?.failure_code ?? noReasonGiven;
}

/**
 * Spends the reservation: the net has left through the gateway, the fee is ours, and the provider keeps its own fee
 * even if the bank returns the net.
 */
export async function succeed(tx: EntityManager, ports: MovingPorts, payout: Payout): Promise<string[]> {
  payout.provider_cost = payout.provider_fee;
  return move(tx, ports, payout, 'succeeded', {
    step: 'spent',
    postings: [
      { accountId: payout.reserved_account_id, amount: negateMoney(addMoney(payout.net_amount, payout.fee)) },
      { accountId: systemAccounts.gatewayClearing, amount: addMoney(payout.net_amount, payout.provider_cost) },
      { accountId: systemAccounts.providerCost, amount: negateMoney(payout.provider_cost) },
      { accountId: systemAccounts.feeRevenue, amount: payout.fee },
    ],
  });
}

/** Returns the whole reservation, including the fee. */
export async function fail(
  tx: EntityManager,
  ports: MovingPorts,
  payout: Payout,
  failureCode: string,
): Promise<string[]> {
  const reserved = addMoney(payout.net_amount, payout.fee);
  payout.failure_code = failureCode;
  return move(tx, ports, payout, 'failed', {
    step: 'returned',
    postings: [
      { accountId: payout.reserved_account_id, amount: negateMoney(reserved) },
      { accountId: payout.source_account_id, amount: reserved },
    ],
  });
}

/**
 * If the provider's last status is that the bank returned a successful payout, posts a journal that returns the net to
 * its source; we keep the fee.
 */
export async function reverseIfReturned(tx: EntityManager, ports: MovingPorts, payout: Payout): Promise<string[]> {
  if (!isReturnUnbooked(payout)) return [];
  return move(tx, ports, payout, 'reversed', {
    step: 'reversed',
    postings: [
      { accountId: systemAccounts.gatewayClearing, amount: negateMoney(payout.net_amount) },
      { accountId: payout.source_account_id, amount: payout.net_amount },
    ],
  });
}

async function move(
  tx: EntityManager,
  ports: MovingPorts,
  payout: Payout,
  status: PayoutStatus,
  { step, postings }: { step: 'spent' | 'returned' | 'reversed'; postings: Posting[] },
): Promise<string[]> {
  assert(canMove(payoutLaw, payout.status, status), `a payout goes from ${payout.status} to ${status}`);
  const family = payoutFamilyOf(payout.kind);
  const handling = ports.payoutKinds[payout.kind];
  // The webhook names the beneficiary: look up the key before locking accounts that others wait for.
  if (payout.partner_id) await showPayoutTexts(ports.sealer, payout);
  const now = await readDatabaseClock(tx);
  payout.status = status;
  payout.finalized_at = payout.updated_at = now;
  if (status === 'succeeded') payout.succeeded_at = now;
  payout.unknown_since = null;
  payout.look_again_at = status === 'succeeded' || payout.failure_code !== null ? nextPayoutLookAt(now, now) : null;
  payout.version += 1;
  await tx.flush();
  const journalId = must(
    await postJournal(tx, {
      kind: `${family}.${status}`,
      businessKey: journalKeys.payout(family, payout.id, step),
      postings,
    }),
    'a payout reaches a status once',
  );
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: resourceTypeOf[payout.kind],
    resourceId: payout.id,
    actorId: null,
    requestId: payout.request_id ?? null,
    data: { status, journal_id: journalId, failure_code: payout.failure_code },
  });
  return handling.moved(tx, ports.sealer, payout, { journalId, at: now });
}
