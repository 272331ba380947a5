import { z } from 'zod';
import { partnerAnswer } from '../../partners/partner-answer.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { partner } from '../../platform/http/access.ts';
import { bodyLimitBytes } from '../../platform/http/body.ts';
import { externalRef, periodEnd, periodStart, uuid } from '../../platform/http/fields.ts';
import { metadata } from '../../platform/http/metadata.ts';
import { nullsAsAbsent } from '../../platform/http/nulls-as-absent.ts';
import { pageFields, partnerListQuery, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { must } from '../../shared/assert.ts';
import { NewPayout } from '../payouts/payouts.routes.ts';
import { createPayoutBatch } from './create-payout-batch.ts';
import { approvePayoutBatch, rejectPayoutBatch } from './decide-payout-batch.ts';
import { findBatchItems, findPayoutBatches, getPayoutBatch } from './find-payout-batches.ts';
import type { PayoutBatchWorkflows } from './payout-batch.ts';
import { mostItems, mostOpenBatches, payoutBatchLaw, payoutBatchPath } from './payout-batch.ts';
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

const routes = createRouteGroup<Ports>({ prefix: '/v1/partners/payout-batches', tag: 'Partner API' });
const params = z.object({ id: uuid() });

/** An item in the request. */
export const NewItem = nullsAsAbsent(
  NewPayout.extend({
    external_ref: externalRef().meta({ description: 'Your own reference for this item, unique within the batch.' }),
  }),
);
// Checked individually, so that one response lists all errors in all items.
const item = z.unknown().meta({
  override: z.toJSONSchema(NewItem, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const { override, ...described } = jsonSchema as { override?: object };
      for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
      Object.assign(jsonSchema, described, override);
    },
  }) as object,
});

routes.post(
  '/',
  {
    summary: 'Create a batch of payouts that a second key must approve',
    description:
      `Reserves nothing yet. Each of its 1 to ${mostItems.toLocaleString('en')} items is validated like a ` +
      'payout, and one response lists all their errors (`items.0.amount`); limits and balance are checked ' +
      `at approval. A partner can have at most ${mostOpenBatches} open batches.`,
    access: partner('request-payout'),
    bodyLimit: bodyLimitBytes.list,
    body: z.strictObject({
      items: z.array(item).min(1).max(mostItems).meta({ description: 'The payouts.' }),
      external_ref: externalRef().optional(),
      metadata: metadata(),
    }),
    idempotent: true,
    answers: { 200: partnerAnswer(PayoutBatchShape) },
    refusals: [409, 503],
  },
  async ({ em, deps, caller, body, requestId }) => {
    const { partnerId, keyId } = caller;
    const idempotency = must(caller.idempotency, 'an idempotent route has a key');
    const batch = await createPayoutBatch(em, deps, NewItem, { partnerId, keyId, body, idempotency, requestId });
    return { ...(await presentPayoutBatch(deps.sealer, batch)), status_url: payoutBatchPath(batch.id) };
  },
);

routes.get(
  '/',
  {
    summary: "List the partner's batches of payouts, newest first",
    access: partner('read-gateway'),
    description: 'A date without a time in `from` or `to` means the whole day in UTC+7.',
    query: partnerListQuery().extend({
      status: z.enum(payoutBatchLaw.statuses).optional().meta({ description: 'Only batches with this status.' }),
      external_ref: externalRef()
        .optional()
        .meta({ description: 'Only batches with exactly this reference of yours.' }),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: { 200: partnerAnswer(z.object({ items: z.array(PayoutBatchShape), ...pageFields })) },
  },
  async ({ em, deps, caller, query }) => {
    const { page, limit, after, ...filter } = query;
    const { items, ...listed } = await findPayoutBatches(
      em,
      { ...filter, partner_id: caller.partnerId },
      { page, limit, after },
    );
    const shown = await Promise.all(items.map((batch) => presentPayoutBatch(deps.sealer, batch)));
    return { items: shown, ...presentPage(query, listed) };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a batch of payouts',
    access: partner('read-gateway'),
    params,
    answers: { 200: partnerAnswer(PayoutBatchShape) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id } }) =>
    presentPayoutBatch(deps.sealer, await getPayoutBatch(em, caller.partnerId, id)),
);

routes.get(
  '/:id/items',
  {
    summary: 'List the items of a batch in their original order',
    description:
      'Includes each beneficiary, for the approver. Once the batch is approved, each item is also a payout ' +
      'with the same id.',
    access: partner('read-gateway'),
    params,
    query: partnerListQuery(),
    answers: {
      200: partnerAnswer(
        z.object({
          items: z.array(PayoutBatchItemShape).meta({ description: 'The items of this page.' }),
          ...pageFields,
        }),
      ),
    },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id }, query }) => {
    const batch = await getPayoutBatch(em, caller.partnerId, id);
    const { rows, ...listed } = await findBatchItems(em, id, query);
    const items = await Promise.all(rows.map((row) => presentBatchItem(deps.sealer, batch, row)));
    return { items, ...presentPage(query, listed) };
  },
);

const whoDecides =
  'Needs a key with `approve-payout` that is neither the key that created the batch nor a rotation of it (otherwise ' +
  'AUTH_PERMISSION_DENIED). PAYOUT_BATCH_DECIDED unless it needs approval.';

routes.post(
  '/:id/approve',
  {
    summary: 'Approve a batch of payouts',
    description:
      `${whoDecides} Reserves the money of all items or of none, within limits and balance; the payouts are then ` +
      'sent a few at a time.',
    access: partner('approve-payout'),
    params,
    answers: { 200: partnerAnswer(PayoutBatchShape) },
    refusals: [404, 409, 422],
  },
  async ({ em, deps, caller: { partnerId, keyId }, params: { id }, requestId }) =>
    presentPayoutBatch(
      deps.sealer,
      await approvePayoutBatch(em, deps, { partnerId, by: { keyId }, batchId: id, requestId }),
    ),
);

routes.post(
  '/:id/reject',
  {
    summary: 'Reject a batch of payouts',
    description: `${whoDecides} Its items will never be paid.`,
    access: partner('approve-payout'),
    params,
    answers: { 200: partnerAnswer(PayoutBatchShape) },
    refusals: [404, 409],
  },
  async ({ em, deps, caller: { partnerId, keyId }, params: { id }, requestId }) =>
    presentPayoutBatch(
      deps.sealer,
      await rejectPayoutBatch(em, deps, { partnerId, by: { keyId }, batchId: id, requestId }),
    ),
);

export const payoutBatchesRoutes = routes;
