import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { openAccount } from '../ledger/accounts/open-account.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import { openOnce } from '../platform/openings/open-once.ts';
import { refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { newId } from '../shared/ids.ts';
import type { CircleOpening, CircleProgress } from './circle-contract.ts';
import { findProgress } from './find-progress.ts';
import { SavingCircle } from './saving-circle.entity.ts';
import { commitTo } from './turn-order.ts';

const seedBytes = 32;

export const placeOfName = (circleId: string) => ({ table: 'saving_circles', column: 'name', row: circleId });
export const placeOfSeed = (circleId: string) => ({
  table: 'saving_circles',
  column: 'draw_seed_sealed',
  row: circleId,
});

/**
 * The first step of a circle: inserts its row as `new` with its holding account and, for a lottery, the sealed seed and
 * its commitment, in one transaction. An existing circle is left as it is. Returns its progress. Throws as `openOnce`.
 */
export async function openCircle(
  em: EntityManager,
  sealer: Sealer,
  { circleId, opening }: { circleId: string; opening: CircleOpening | null },
): Promise<CircleProgress> {
  const find = (tx: EntityManager) => tx.findOne(SavingCircle, { id: circleId });
  const circle =
    opening === null
      ? await find(em)
      : await openOnce(
          em,
          { resourceId: circleId, kind: 'saving_circle', stamp: opening.stamp },
          { find, make: (tx) => makeCircle(tx, sealer, circleId, opening) },
        );
  if (circle === null) refuse('NOT_FOUND', 'The saving circle was not found');
  await failpoint('open-circle.after');
  return findProgress(em.fork(), circleId);
}

async function makeCircle(
  tx: EntityManager,
  sealer: Sealer,
  circleId: string,
  opening: CircleOpening,
): Promise<SavingCircle> {
  const holdingAccountId = newId();
  const by = { actorId: opening.circle.created_by, requestId: opening.requestId };
  const holding = { id: holdingAccountId, kind: 'circle_holding', name: 'Saving circle', ownerId: circleId } as const;
  await openAccount(tx, holding, by);
  const circle = tx.create(SavingCircle, {
    ...opening.circle,
    id: circleId,
    name: await sealer.open(placeOfName(circleId), opening.nameSealed),
    holding_account_id: holdingAccountId,
    starts_at: new Date(opening.startsAt),
    ...(opening.circle.turn_order === 'lottery' ? await prepareDraw(sealer, circleId) : {}),
  });
  await tx.flush();
  await recordEvent(tx, { event: 'RESOURCE_CREATED', resourceType: 'saving_circle', resourceId: circleId, ...by });
  return circle;
}

/** A random seed, sealed until the draw, and its commitment, by which anyone can verify the seed afterwards. */
async function prepareDraw(sealer: Sealer, circleId: string) {
  const seed = randomBytes(seedBytes).toString('hex');
  return { draw_commitment: commitTo(seed), draw_seed_sealed: await sealer.seal(placeOfSeed(circleId), seed) };
}
