import { setTimeout as sleep } from 'node:timers/promises';
import { reconcileOn } from '../control/reconciliation/reconcile-on.ts';
import { backUp, restore } from '../control/reconciliation/restore.ts';
import { eventually } from '../support/eventually.ts';
import { workCalmly } from './calm-work.ts';
import type { Workplace } from './workplace.ts';

/** From a backup to its restore, in milliseconds of the epoch: everything in between is lost. */
export interface Restored {
  from: number;
  to: number;
  /** What was created in between, and is created again; and what had no instrument yet, and requests one again. */
  madeAgain: string[];
}

const rounds = 3;
/** What was in flight when the database was restored has arrived after this. */
const onItsWayMs = 1_000;

/**
 * A database restored from a backup while Temporal, the provider and every process keep running, and the provider
 * forgets its idempotency keys. As the runbook says, clients then resend under their keys whatever was created since;
 * `reconcilesFirst` compares the day with the provider's before that. `lost` is called when waiting rows have lost
 * their workflow.
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

/** Compares today with the provider's records, again if Temporal, restarted just before, could wake no owner. */
export async function reconcilePatiently(topology: Workplace['topology']): Promise<void> {
  await eventually(
    () => reconcileOn(topology).then(() => null, String),
    (failure) => failure === null,
  );
}
