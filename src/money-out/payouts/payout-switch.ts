import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import { must } from '../../shared/assert.ts';
import type { Caller } from '../../shared/caller.ts';

/** Whether transfers and refunds are sent, and who last changed that, why and when; null before the first change. */
export interface PayoutSwitch {
  enabled: boolean;
  reason: string | null;
  changed_by: string | null;
  changed_at: Date | null;
}

interface Row extends Omit<PayoutSwitch, 'changed_at'> {
  changed_at: Date | string | null;
}

async function read(em: EntityManager, lock = ''): Promise<PayoutSwitch> {
  const [row] = await em.execute<Row[]>(`select enabled, reason, changed_by, changed_at from payout_switch ${lock}`);
  const { changed_at, ...rest } = must(row, 'the payout switch has a row');
  return { ...rest, changed_at: changed_at === null ? null : new Date(changed_at) };
}

/** The state of the switch for all payouts. */
export const readPayoutSwitch = (em: EntityManager): Promise<PayoutSwitch> => read(em);

/** Whether unsent transfers and refunds are held. */
export const arePayoutsHeld = async (em: EntityManager): Promise<boolean> => !(await read(em)).enabled;

/**
 * Holds all unsent transfers and refunds, repetitions included, or releases them. While they are held no attempt
 * starts, and a started attempt sends no request. After a release the next sweep wakes them. Idempotent.
 */
export function switchPayouts(
  em: EntityManager,
  { enabled, reason, caller, requestId }: { enabled: boolean; reason: string; caller: Caller; requestId: string },
): Promise<PayoutSwitch> {
  return em.transactional(async (tx) => {
    const before = await read(tx, 'for update');
    if (before.enabled === enabled && before.reason === reason) return before;
    await tx.execute(
      'update payout_switch set enabled = ?, reason = ?, changed_by = ?, changed_at = clock_timestamp()',
      [enabled, reason, caller.userId],
    );
    await recordEvent(tx, {
      event: enabled ? 'PAYOUTS_RELEASED' : 'PAYOUTS_HELD',
      impact: 'HIGH',
      resourceType: 'payout_switch',
      resourceId: null,
      actorId: caller.userId,
      requestId,
      data: { reason },
    });
    return read(tx);
  });
}
