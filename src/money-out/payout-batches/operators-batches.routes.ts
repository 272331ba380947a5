import { z } from 'zod';
import { managesPartners } from '../../partners/partner-accounts.routes.ts';
import { withPartnerName, withPartnerNames } from '../../partners/with-partner-names.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { externalRef, periodEnd, periodStart, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { maskName, maskNumber } from '../../shared/mask.ts';
import { rejectPayoutBatch } from './decide-payout-batch.ts';
import { findBatchItems, findPayoutBatches, getAnyPayoutBatch } from './find-payout-batches.ts';
import type { PayoutBatch } from './payout-batch.entity.ts';
import { type PayoutBatchWorkflows, payoutBatchLaw } from './payout-batch.ts';
import {
  PayoutBatchItemShape,
  PayoutBatchShape,
  presentBatchItem,
  presentPayoutBatch,
} from './present-payout-batch.ts';

interface Ports {
  sealer: Sealer;
  workflows: Pick<PayoutBatchWorkflows, 'wakePayoutBatch'>;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/payout-batches', tag: 'Operations' });
const reads = allow('read-event', { userTypes: ['platform'], scope: 'all' });
const params = z.object({ id: uuid() });

const BatchShape = PayoutBatchShape.omit({ status_url: true })
  .extend({
    partner_id: uuid().meta({ description: 'The partner of the batch.' }),
    partner_name: z
      .string()
      .nullable()
      .meta({ description: 'The name of the partner.', examples: ['Kios Nusantara'] }),
    made_by: uuid().nullable().meta({ description: "The partner's key that created it; null for an imported batch." }),
    imported_by: uuid()
      .nullable()
      .meta({ description: 'The operator who imported it; null for a batch created by a key.' }),
    decided_by: uuid()
      .nullable()
      .meta({ description: "The partner's key that approved or rejected it; otherwise null." }),
    rejected_by: uuid().nullable().meta({ description: 'The operator who rejected it; otherwise null.' }),
  })
  .meta({ id: 'OperatorsPayoutBatch' });
const answer = z.object({ message: z.string(), data: BatchShape });

const present = async (sealer: Sealer, batch: PayoutBatch) => ({
  ...(await presentPayoutBatch(sealer, batch)),
  partner_id: batch.partner_id,
  made_by: batch.made_by ?? null,
  imported_by: batch.imported_by ?? null,
  decided_by: batch.decided_by ?? null,
  rejected_by: batch.rejected_by ?? null,
});

routes.get(
  '/',
  {
    summary: "List every partner's batches of payouts, newest first",
    description: 'A date without a time in `from` or `to` means the whole day in UTC+7.',
    access: reads,
    query: listQuery()
      .omit({ order: true })
      .extend({
        partner_id: uuid().optional().meta({ description: 'Only batches of this partner.' }),
        status: z.enum(payoutBatchLaw.statuses).optional().meta({ description: 'Only batches with this status.' }),
        external_ref: externalRef().optional().meta({ description: "The partner's own reference." }),
        from: periodStart().optional(),
        to: periodEnd().optional(),
      }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(BatchShape), ...pageFields }) }),
    },
  },
  async ({ em, deps, query }) => {
    const { page, limit, after, ...filter } = query;
    const { items, ...listed } = await findPayoutBatches(em, filter, { page, limit, after });
    const shown = await Promise.all(items.map((batch) => present(deps.sealer, batch)));
    return {
      message: 'Payout batches found',
      data: { items: await withPartnerNames(em, shown), ...presentPage(query, listed) },
    };
  },
);

routes.get(
  '/:id',
  {
    summary: "Read a partner's batch of payouts",
    access: reads,
    params,
    answers: { 200: answer },
    refusals: [404],
  },
  async ({ em, deps, params: { id } }) => ({
    message: 'Payout batch found',
    data: await withPartnerName(em, await present(deps.sealer, await getAnyPayoutBatch(em, id))),
  }),
);

routes.get(
  '/:id/items',
  {
    summary: "List the items of a partner's batch in their original order",
    description: 'Beneficiaries are masked. Once the batch is approved, each item is a payout with the same id.',
    access: reads,
    params,
    query: listQuery().omit({ order: true }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(PayoutBatchItemShape), ...pageFields }) }),
    },
    refusals: [404],
  },
  async ({ em, deps, params: { id }, query }) => {
    const batch = await getAnyPayoutBatch(em, id);
    const { rows, ...listed } = await findBatchItems(em, id, query);
    const items = await Promise.all(
      rows.map(async (row) => {
        const { bank_account_number, beneficiary_name, ...item } = await presentBatchItem(deps.sealer, batch, row);
        return {
          ...item,
          bank_account_number: maskNumber(bank_account_number),
          beneficiary_name: beneficiary_name ? maskName(beneficiary_name) : null,
        };
      }),
    );
    return { message: 'Items found', data: { items, ...presentPage(query, listed) } };
  },
);

routes.post(
  '/:id/reject',
  {
    summary: "Reject a partner's batch of payouts",
    description:
      "Its items will never be paid. 409 unless the batch needs approval. Only the partner's keys can approve it, " +
      "because the money is the partner's.",
    access: managesPartners,
    params,
    answers: { 200: answer },
    refusals: [404, 409],
  },
  async ({ em, deps, caller: { userId }, params: { id: batchId }, requestId }) => {
    const { partner_id: partnerId } = await getAnyPayoutBatch(em, batchId);
    const decision = { partnerId, batchId, by: { userId }, requestId };
    const batch = await rejectPayoutBatch(em.fork(), deps, decision);
    return { message: 'Payout batch rejected', data: await withPartnerName(em, await present(deps.sealer, batch)) };
  },
);

export const operatorsBatchesRoutes = routes;
