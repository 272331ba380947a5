import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { User } from '../../people/members/user.entity.ts';
import { forgetCallbacksOf } from '../../platform/callbacks/forget-bodies.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { PersonalKeys } from '../../platform/encryption/personal-keys.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { emptyRows } from './empty-rows.ts';
import { eraseDocuments } from './erase-documents.ts';
import { Erasure } from './erasure.entity.ts';
import { type ErasureStanding, type ErasureStatus, type ErasureTerms, holdLookHours } from './erasure.ts';
import { enterErasure } from './erasure-register.ts';
import { findHold } from './legal-holds.ts';
import { noteDestroyed } from './note-destroyed.ts';

export interface ErasurePorts {
  config: ErasureTerms;
  storage: Storage;
  sealer: Sealer;
  personalKeys: PersonalKeys;
}

const hourMs = 3_600_000;

/**
 * Continues an erasure as far as possible now, and returns when to look again. Every step can be rerun after a crash. The
 * steps: clear the person's rows, delete the callback bodies, write the register entry, destroy the key, delete the
 * stored objects. Throws NOT_FOUND. If the keys database or the file store is down, it throws and the activity is
 * retried.
 */
export async function continueErasure(em: EntityManager, ports: ErasurePorts, id: string): Promise<ErasureStanding> {
  const erasure = await em.findOne(Erasure, { id }, { refresh: true });
  if (erasure === null) refuse('NOT_FOUND', 'The erasure was not found');
  switch (erasure.status) {
    case 'waiting': {
      const { waitMs } = await em.fork().transactional((tx) => beginToErase(tx, ports.config, id));
      return waitMs > 0 ? { status: 'waiting', waitMs } : continueErasure(em.fork(), ports, id);
    }
    case 'erasing':
      await destroy(em, ports, erasure);
      return continueErasure(em.fork(), ports, id);
    case 'erased': {
      const waitMs = (await backupsLeftMs(em, ports.config, erasure)) || (await complete(em, ports, erasure));
      return waitMs > 0 ? { status: 'erased', waitMs } : { status: 'complete', waitMs };
    }
    default:
      return { status: erasure.status, waitMs: 0 };
  }
}

/**
 * Clears the person's rows once the waiting time is over and no legal hold blocks the erasure; until then returns how
 * long to wait.
 */
async function beginToErase(
  tx: EntityManager,
  { ERASURE_WAIT_HOURS }: ErasureTerms,
  id: string,
): Promise<{ waitMs: number }> {
  const erasure = await tx.findOneOrFail(Erasure, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (erasure.status !== 'waiting') return { waitMs: 0 };
  const now = (await readDatabaseClock(tx)).getTime();
  const waitMs = erasure.begun_at.getTime() + ERASURE_WAIT_HOURS * hourMs - now;
  if (waitMs > 0) return { waitMs };
  // Everything the person starts locks their row: either this transaction sees it, or it sees the person as erased.
  const user = await tx.findOneOrFail(User, erasure.user_id, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  // Serializes erasures: two at once could remove the last super admin, or the last role assigner of an organization.
  await tx.execute("select pg_advisory_xact_lock(hashtext('super admins'))");
  await tx.execute("select pg_advisory_xact_lock(hashtext('assigners'), hashtext(?))", [user.organization_id ?? '']);
  const hold = await findHold(tx, user.id);
  if (hold !== null) {
    await tx.execute('update erasures set held_because = ? where id = ?', [hold, id]);
    return { waitMs: holdLookHours * hourMs };
  }
  await emptyRows(tx, user);
  await go(tx, erasure, 'erasing');
  return { waitMs: 0 };
}

async function destroy(em: EntityManager, ports: ErasurePorts, erasure: Erasure): Promise<void> {
  const { user_id: userId, erased_at } = erasure;
  await forgetCallbacksOf(em.fork(), userId);
  await failpoint('erase.before-register');
  await enterErasure(ports.storage, userId, must(erased_at, 'an erasure in status erasing has erased_at'));
  await failpoint('erase.before-key');
  await ports.personalKeys.destroy([userId]);
  await failpoint('erase.before-documents');
  await eraseDocuments(em, ports, userId);
  await em.fork().transactional((tx) => go(tx, erasure, 'erased'));
}

/** Milliseconds until the last backup with the key has expired; 0 once it has. */
async function backupsLeftMs(em: EntityManager, terms: ErasureTerms, { erased_at }: Erasure): Promise<number> {
  const now = (await readDatabaseClock(em)).getTime();
  const since = must(erased_at, 'an erasure in status erased has erased_at').getTime();
  return Math.max(0, since + terms.KEYS_BACKUP_DAYS * 24 * hourMs - now);
}

/**
 * Completes an erasure once the last backup of its key has expired. If a lagging or restored keys server has brought the
 * key back, destroys the key again and waits for the backups that contain it to expire. Returns how long to wait.
 */
async function complete(em: EntityManager, { config, personalKeys }: ErasurePorts, { id, user_id }: Erasure) {
  await personalKeys.destroy([user_id]);
  await noteDestroyed(em, personalKeys, [user_id]);
  return em.fork().transactional(async (tx) => {
    const erasure = await tx.findOneOrFail(Erasure, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    const waitMs = await backupsLeftMs(tx, config, erasure);
    if (waitMs === 0) await go(tx, erasure, 'complete');
    return waitMs;
  });
}

const events = { erasing: 'PERSON_EMPTIED', erased: 'PERSON_ERASED', complete: 'ERASURE_COMPLETE' } as const;

/** Advances an erasure's status, with its event; does nothing when another step has done so. */
async function go(tx: EntityManager, { id, user_id }: Erasure, status: keyof typeof events): Promise<void> {
  const from: Record<keyof typeof events, ErasureStatus> = {
    erasing: 'waiting',
    erased: 'erasing',
    complete: 'erased',
  };
  const changed = await tx.execute<unknown[]>(
    `update erasures set status = ?, held_because = null,
       erased_at = case when ? = 'complete' then erased_at else clock_timestamp() end,
       ended_at = case when ? = 'complete' then clock_timestamp() end
     where id = ? and status = ? returning 1`,
    [status, status, status, id, from[status]],
  );
  if (changed.length === 0) return;
  await recordAction(tx, byPlatform, [events[status], 'HIGH'], ['user', user_id]);
}
