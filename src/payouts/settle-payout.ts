import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { refuseUnlessPlatformUser } from '../identity/find-user.ts';
import { refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { isNote, notANote } from '../shared/note.ts';
import { findPendingWebhooks } from '../webhooks/record-webhook.ts';
import { hearProvider } from './ask-transfer.ts';
import { findMadeAttempts } from './attempts.ts';
import { lockPayout, noteWord } from './note-word.ts';
import { Payout } from './payout.entity.ts';
import {
  isFinalPayout,
  type PayoutSettlement,
  type PayoutStanding,
  settledByOperator,
  type TransferWord,
} from './payout.ts';
import { mayBeUnderWayMs } from './repeating.ts';
import { standingOf } from './reserve-payout.ts';
import { fail, succeed } from './resolve-payout.ts';

/**
 * Ends a pending payout as an operator says, once. `succeeded` is taken when the provider says so; `failed` when it
 * says so or does not know the transfer; anything else only with `force`. Nobody ends one as `failed` within two minutes
 * of an attempt, as its request may still be under way.
 * Refuses with REQUEST_INVALID, saying what the provider says. The event carries outcome, note and who. The same
 * settlement again answers the same.
 */
export async function settlePayout(
  em: EntityManager,
  { gateway, sealer }: { gateway: Gateway; sealer: Sealer },
  input: { payoutId: string; settlement: PayoutSettlement; at: string; signal: AbortSignal },
): Promise<PayoutStanding> {
  const { payoutId, settlement, at, signal } = input;
  const { outcome, note, who, force = false } = settlement;
  if (!isNote(note)) refuse('REQUEST_INVALID', notANote);
  await refuseUnlessPlatformUser(em, who);
  const { net_amount: amount } = await em.findOneOrFail(Payout, { id: payoutId });
  const word = await hearProvider(gateway, { payoutId, amount, signal });
  const standing = await em.fork().transactional(async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    if (isFinalPayout(payout.status)) {
      if (await isSettledSo(tx, payoutId, settlement)) {
        return standingOf(payout, await findPendingWebhooks(tx, { resourceType: 'payout', resourceId: payoutId }));
      }
      refuse('REQUEST_INVALID', `the payout is ${payout.status} already`);
    }
    await noteWord(tx, payout, word, new Date(at));
    if (!force) refuseAgainstProvider(outcome, word);
    if (outcome === 'failed') await refuseWhileUnderWay(tx, payoutId);
    const delivery =
      outcome === 'succeeded' ? await succeed(tx, sealer, payout) : await fail(tx, sealer, payout, settledByOperator);
    await recordEvent(tx, {
      event: 'PAYOUT_SETTLED',
      impact: 'HIGH',
      resourceType: 'payout',
      resourceId: payout.id,
      actorId: who,
      requestId: null,
      data: { outcome, note, who, force, provider_says: word.said },
    });
    return standingOf(payout, delivery === null ? [] : [delivery]);
  });
  await failpoint('settle-payout.after');
  return standing;
}

/** Whether this very settlement has been made: the step is repeated because its answer was lost. */
async function isSettledSo(tx: EntityManager, payoutId: string, settlement: PayoutSettlement): Promise<boolean> {
  const { outcome, note, who } = settlement;
  const found = await tx.execute<unknown[]>(
    `select 1 from events where resource_type = 'payout' and resource_id = ? and event = 'PAYOUT_SETTLED'
       and data @> ?::jsonb limit 1`,
    [payoutId, JSON.stringify({ outcome, note, who })],
  );
  return found.length > 0;
}

function refuseAgainstProvider(outcome: PayoutSettlement['outcome'], { said }: TransferWord): void {
  if (outcome === 'succeeded') {
    if (said === 'succeeded' || said === 'reversed') return;
    refuse('REQUEST_INVALID', `the provider does not say that the transfer succeeded; it says: ${said}`);
  }
  if (said !== 'failed' && said !== 'not known') {
    refuse('REQUEST_INVALID', `the provider does not say that the transfer failed; it says: ${said}`);
  }
}

async function refuseWhileUnderWay(tx: EntityManager, payoutId: string): Promise<void> {
  const made = await findMadeAttempts(tx, payoutId);
  if (made.some(({ ageMs }) => ageMs < mayBeUnderWayMs)) {
    refuse('REQUEST_INVALID', 'the request to the provider may still be under way; try again in two minutes');
  }
}
