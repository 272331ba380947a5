import { z } from 'zod';
import { recordAction } from '../../platform/events/record-event.ts';
import { allow } from '../../platform/http/access.ts';
import { bodyLimitBytes } from '../../platform/http/body.ts';
import { amount, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { budgets } from '../../shared/budgets.ts';
import type { AllocationWorkflows } from './allocation.ts';
import { allocationLimit, donationRefusals, donationRefusalTexts } from './allocation.ts';
import { createAllocation } from './create-allocation.ts';
import { findOpenDonations } from './find-donations.ts';
import { judgeCause, judgeDonations } from './judge-donations.ts';
import { DonationAnswer, presentDonation } from './present-donation.ts';
import { refusalOfCause } from './refuse-allocation.ts';

const openListPageSize = 20;

const message = z.string();
const access = allow('allocate-open-donation', {
  userTypes: ['platform'],
  role: 'platform_super_admin',
  scope: 'all',
});

const Allocation = z.strictObject({
  donation_ids: z
    .array(uuid())
    .min(1, 'must name at least one donation')
    .max(allocationLimit, `must name at most ${allocationLimit} donations`)
    .superRefine((ids, ctx) => {
      const seen = new Set<string>();
      for (const id of ids) {
        if (seen.has(id)) ctx.addIssue({ code: 'custom', message: `${id} is named twice` });
        seen.add(id);
      }
    }),
  cause_id: uuid(),
});

interface Ports {
  workflows: AllocationWorkflows;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/donations',
  tag: 'Donations',
  description: 'Donations to a cause, to the open pool, or by subscription.',
});

routes.get(
  '/open',
  {
    summary: 'List open donations waiting for a cause',
    access,
    query: listQuery({ limit: openListPageSize }),
    answers: { 200: z.object({ message, donations: z.array(DonationAnswer), ...pageFields }) },
  },
  async ({ em, caller, query, requestId }) => {
    const { items, ...listed } = await findOpenDonations(em, query);
    // The event of this read is documented as RESOURCE_UPDATED.
    await recordAction(em, { caller, requestId }, ['RESOURCE_UPDATED', 'LOW'], ['donation', null]);
    return { message: 'Open donations found', donations: items.map(presentDonation), ...presentPage(query, listed) };
  },
);

routes.post(
  '/allocate',
  {
    summary: 'Allocate open donations to a cause',
    description:
      `All or nothing, at most ${allocationLimit} at once. One invalid donation fails the batch; each is named with its ` +
      'reason: 404 if a donation or the cause is unknown, 400 otherwise.',
    access,
    body: Allocation,
    bodyLimit: bodyLimitBytes.list,
    turnWithinMs: budgets.requests.allocation,
    answers: {
      200: z.object({
        message,
        data: z.object({
          allocated_count: z.int(),
          cause_id: uuid(),
          allocation_batch_id: uuid(),
          total_amount: amount(),
        }),
      }),
    },
    refusals: [404],
  },
  async ({ em, deps, caller, body, requestId }) => {
    const { cause_id: causeId, donation_ids: donationIds } = body;
    const asking = { causeId, donationIds, requestedBy: caller.userId, requestId };
    const allocated = await createAllocation(em, deps, asking);
    return {
      message: 'Donations allocated',
      data: {
        allocated_count: allocated.count,
        cause_id: causeId,
        allocation_batch_id: allocated.batchId,
        total_amount: allocated.totalAmount,
      },
    };
  },
);

routes.post(
  '/allocate/preview',
  {
    summary: 'Preview an allocation',
    description:
      'Checks the body and the cause as the allocation does, but lists invalid donations instead of failing.',
    access,
    body: Allocation,
    bodyLimit: bodyLimitBytes.list,
    answers: {
      200: z.object({
        message,
        data: z.object({
          allocatable_count: z.int(),
          total_amount: amount(),
          refused: z.array(
            z.object({
              donation_id: uuid(),
              reason: z.enum(donationRefusals.map((reason) => donationRefusalTexts[reason])),
            }),
          ),
        }),
      }),
    },
    refusals: [404],
  },
  async ({ em, body: { cause_id: causeId, donation_ids: ids } }) => {
    const cause = await judgeCause(em, causeId, { lock: false });
    if ('refusal' in cause) throw refusalOfCause(causeId, cause.refusal);
    const { allocatableCount, totalAmount, refused } = await judgeDonations(em, ids, { lock: false });
    return {
      message: 'Allocation checked',
      data: {
        allocatable_count: allocatableCount,
        total_amount: totalAmount,
        refused: refused.map(({ id, reason }) => ({ donation_id: id, reason: donationRefusalTexts[reason] })),
      },
    };
  },
);

export const allocationRoutes = routes;
