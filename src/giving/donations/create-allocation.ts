import type { EntityManager } from '@mikro-orm/postgresql';
import { stampOpening } from '../../platform/openings/idempotency-keys.ts';
import { createOnce } from '../../platform/openings/open-once.ts';
import { budgets } from '../../shared/budgets.ts';
import { allocationBatchIdFor, newId } from '../../shared/ids.ts';
import { findAllocation } from './allocate-donations.ts';
import { type Allocated, type AllocationRequest, type AllocationWorkflows, packIds } from './allocation.ts';
import { refuseAllocation, refuseAsWritten, refusedAllocation } from './refuse-allocation.ts';

/**
 * How long a request waits for its allocation, in milliseconds; mostly, other allocations of the same donations delay
 * it.
 */
const allocationWaitMs = budgets.requests.allocation;

/**
 * Starts the workflow that allocates open donations to a cause, and waits for its outcome. Throws as `refuseAllocation`
 * does, and SERVICE_UNAVAILABLE on a timeout.
 */
export async function createAllocation(
  em: EntityManager,
  { workflows }: { workflows: AllocationWorkflows },
  asking: { causeId: string; donationIds: readonly string[]; requestedBy: string; requestId: string },
): Promise<Allocated> {
  const { causeId, donationIds, requestedBy, requestId } = asking;
  const batchId = allocationBatchIdFor(causeId, donationIds);
  const attemptId = newId();
  const donations = packIds(donationIds);
  const stamp = await stampOpening(em);
  const allocated = await createOnce(
    em,
    {
      resourceId: batchId,
      kind: 'donation_allocation',
      stamp,
      unavailable: 'The allocation is still running; check again in a moment',
    },
    {
      find: (place) => findAllocation(place, batchId),
      prepare: async () => ({ batchId, attemptId, causeId, donations, requestedBy, requestId }),
      start: async (request: AllocationRequest) => {
        const outcome = await workflows.runDonationAllocation(request, allocationWaitMs);
        if (outcome?.outcome === 'refused') refuseAsWritten(outcome);
        return null;
      },
    },
  ).catch((error: unknown) => {
    const refused = refusedAllocation(error);
    if (refused === null) throw error;
    return refuseAllocation(causeId, refused);
  });
  // This request joined an earlier one for the same batch, so the donations are already allocated.
  if (allocated.attemptId !== attemptId) {
    return refuseAllocation(causeId, { outcome: 'refused', cause: null, donations: { allocated: donations } });
  }
  return allocated;
}
