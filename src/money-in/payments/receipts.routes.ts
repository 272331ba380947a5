import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { amount, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { presentFields } from '../../platform/http/present-fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { listReceipts } from './find-receipts.ts';
import { receiptLaw, receiptReasons } from './receipt.ts';

const ReceiptAnswer = z
  .object({
    id: uuid(),
    amount: amount(),
    reference: z.string(),
    reason: z.enum(receiptReasons).nullable(),
    status: z.enum(receiptLaw.statuses),
    received_at: timestamp(),
  })
  .meta({ id: 'Receipt' });

const routes = createRouteGroup({ prefix: '/v1/receipts', tag: 'Operations' });

routes.get(
  '/',
  {
    summary: 'List receipts of money confirmed by the provider, newest first',
    description:
      '`status=suspended` is the operators’ work list: money that arrived late, twice, in the wrong amount or ' +
      'without an owner, and waits in suspense for a decision `settle_receipt`. `applied` money has no reason: it ' +
      'paid the resource of its reference.',
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    query: listQuery().extend({
      status: z.enum(receiptLaw.statuses).optional(),
      reference: text(64)
        .optional()
        .describe('The id of an order or payment: lists only money that was not applied to it.'),
    }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(ReceiptAnswer), ...pageFields }) }),
    },
  },
  async ({ em, query }) => {
    const { rows, ...listed } = await listReceipts(em, query);
    return {
      message: 'Receipts found',
      data: {
        items: rows.map((row) =>
          presentFields(ReceiptAnswer.shape, { ...row, received_at: new Date(row.received_at) }),
        ),
        ...presentPage(query, listed),
      },
    };
  },
);

export const receiptsRoutes = routes;
