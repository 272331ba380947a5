import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { AllocationOutcome, AllocationRequest } from '../src/giving/donations/allocation.ts';
import { tellDetails } from './go-on.ts';
import { hasLapsed } from './refusal.ts';
import { allocationStep } from './step-options.ts';

const { allocateDonations } = proxyActivities<Activities>(allocationStep);

/**
 * Allocates open donations to a cause. Its one step is one database transaction, so the batch is allocated completely
 * or not at all. The request waits for the outcome; a refusal is also an outcome.
 */
export async function donationAllocation(request: AllocationRequest): Promise<AllocationOutcome> {
  tellDetails('Allocating the batch, all of it or nothing.');
  const outcome = await allocateInTime(request);
  tellDetails(
    outcome.outcome === 'allocated'
      ? `Ended: ${outcome.count} donations, IDR ${outcome.totalAmount}, are the cause's.`
      : `Ended: ${outcome.outcome}, nothing was changed.`,
  );
  return outcome;
}

async function allocateInTime(request: AllocationRequest): Promise<AllocationOutcome> {
  try {
    return await allocateDonations(request);
  } catch (error) {
    if (hasLapsed(error)) return { outcome: 'lapsed' };
    throw error;
  }
}
