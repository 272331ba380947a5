import type { AllocationWorkflows } from '../../giving/donations/allocation.ts';
import type { Temporal } from './temporal.ts';

export const createAllocationWorkflows = (temporal: Temporal): AllocationWorkflows => ({
  runDonationAllocation(request, waitMs) {
    const run = {
      workflow: 'donationAllocation' as const,
      subject: request.batchId,
      input: temporal.prove({ kind: 'donation_allocation', resourceId: request.batchId }, request),
      summary: 'Open donations, allocated to a cause as one batch',
    };
    return temporal.startAndAwaitEnd(run, waitMs);
  },
});
