import { setTimeout as sleep } from 'node:timers/promises';
import { westernIndonesiaDay } from '../../src/shared/clock.ts';
import { reconcileOn } from '../control/reconciliation/reconcile-on.ts';
import { backUp, restore } from '../control/reconciliation/restore.ts';
import { eventually } from '../support/eventually.ts';
import { workCalmly } from './calm-work.ts';
import type { Workplace } from './workplace.ts';

/** The period from a backup to its restore, whose changes are lost, in epoch milliseconds. */
export interface Restored {
  from: number;
  to: number;
  /**
   * Resources created in that period, which clients create again, and orders restored without an instrument, which
   * request one again.
   */
  madeAgain: string[];
}

const rounds = 3;
/** Requests in flight at the restore have arrived after this time. */
const onItsWayMs = 1_000;
/** The longest by which the torture backdates rows so that sweeps and retries find them. */
const backdatedByMs = 3_600_000;

/**
 * Restores the database from a backup while Temporal, the provider and every process keep running, and expires the
 * provider's idempotency keys. As in the runbook, clients then resend the requests since the backup under their keys;
 * with `reconcilesFirst` the day is reconciled before that. Calls `lost` when waiting rows have lost their workflow.
 */
export async function restoreMeanwhile(
  place: Workplace,
  { planned, reconcilesFirst, lost }: { planned: number; reconcilesFirst: boolean; lost(): Promise<void> },
): Promise<Restored> {
  const { topology, client, note } = place;
  const from = Date.now();
  await backUp(topology.owner());
  note('the database is backed up');
  await workCalmly(place, planned, rounds);
  await topology.sandbox.post('/sandbox/forget-keys', {});
  await restore(topology.owner());
  await topology.owner().execute('delete from torture.transitions where at >= to_timestamp(?)', [from / 1000]);
  note('the database is restored, and the provider has forgotten its keys');
  const withoutInstrument = await topology
    .owner()
    .execute<{ id: string }[]>(
      "select id from payment_orders where status = 'PENDING' union all select id from partner_payments where status = 'PENDING'",
    );
  await lost();
  await sleep(onItsWayMs);
  const to = Date.now();
  if (reconcilesFirst) await reconcilePatiently(topology);
  const madeAgain = [...(await client.askAnew(from)), ...withoutInstrument.map(({ id }) => id)];
  note('everything was requested again');
  return { from, to, madeAgain };
}

/**
 * Reconciles today with the provider, and just after midnight also yesterday, when backdated rows were sent. Retries,
 * because a just restarted Temporal may not wake every workflow.
 */
export async function reconcilePatiently(topology: Workplace['topology']): Promise<void> {
  const instants = [Date.now() - backdatedByMs, Date.now()];
  for (const day of new Set(instants.map((instant) => westernIndonesiaDay(new Date(instant))))) {
    await eventually(
      () => reconcileOn(topology, { day }).then(() => null, String),
      (failure) => failure === null,
    );
  }
}
