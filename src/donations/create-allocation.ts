import type { EntityManager } from '@mikro-orm/postgresql';
import { createOnce } from '../openings/create-once.ts';
import { stampOpening } from '../openings/stamp-opening.ts';
import { allocationBatchIdFor, newId } from '../shared/ids.ts';
import { findAllocation } from './allocate-donations.ts';
import { type Allocated, type AllocationOutcome, type AllocationRequest, packIds } from './allocation.ts';
import { refuseAllocation, refusedAllocation } from './refuse-allocation.ts';

/**
 * Allocates open donations to a cause by starting a workflow (`run`), and waits for its outcome. Refuses as
 * `refuseAllocation`, and with SERVICE_UNAVAILABLE when it has not ended in time.
 */
export async function createAllocation(
  em: EntityManager,
  run: (request: AllocationRequest) => Promise<AllocationOutcome | null>,
  asking: { causeId: string; donationIds: readonly string[]; requestedBy: string; requestId: string },
): Promise<Allocated> {
  const { causeId, donationIds, requestedBy, requestId } = asking;
  const batchId = allocationBatchIdFor(causeId, donationIds);
  const attemptId = newId();
  const donations = packIds(donationIds);
  const allocated = await createOnce(
    em,
    {
      resourceId: batchId,
      kind: 'donation_allocation',
      isKeyed: true,
      unavailable: 'The allocation has not ended yet; look again in a moment',
    },
    {
      find: (place) => findAllocation(place, batchId),
      prepare: async () => ({
        ...{ batchId, attemptId, causeId, donations, requestedBy, requestId },
        stamp: await stampOpening(em),
      }),
      start: async (request: AllocationRequest) => {
        const outcome = await run(request);
        if (outcome?.outcome === 'refused') refuseAllocation(causeId, outcome);
      },
    },
  ).catch((error: unknown) => {
    const refused = refusedAllocation(error);
    if (refused === null) throw error;
    return refuseAllocation(causeId, refused);
  });
  // Joined to a request for the same batch that came first: to this one the donations are allocated already.
  if (allocated.attemptId !== attemptId) {
    return refuseAllocation(causeId, { outcome: 'refused', cause: null, donations: { allocated: donations } });
  }
  return allocated;
}
