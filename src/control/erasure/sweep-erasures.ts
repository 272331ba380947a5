import type { Sweep } from '../../platform/housekeeping/sweep-rows.ts';
import type { ErasureWorkflows } from './erasure.ts';

const due = "select id, begun_at as since from erasures where status not in ('complete', 'stopped')";

/**
 * Erasures under way, each of which has its workflow: one that Temporal lost, or that a restored database learnt from the
 * register, is started.
 */
export const erasureSweep = ({ lookAfterErasure }: ErasureWorkflows): Sweep => ({
  kind: 'erasure',
  due,
  wake: (id) => lookAfterErasure(id),
});
