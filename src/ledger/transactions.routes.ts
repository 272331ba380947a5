import { z } from 'zod';
import { embedDocuments } from '../people/documents/embed-documents.ts';
import { type DocumentView, embeddedDocumentsFields } from '../people/documents/present-document.ts';
import { recordRead } from '../platform/events/record-event.ts';
import { allow } from '../platform/http/access.ts';
import { amount, timestamp, uuid } from '../platform/http/fields.ts';
import { countedFields, listQuery, presentCounted } from '../platform/http/paging.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import type { Caller } from '../shared/caller.ts';
import { findTransactions, getTransaction } from './find-transactions.ts';
import type { Transaction } from './transaction.entity.ts';
import { ledgerReferenceTypes, transactionLaw, transactionPurposes, transactionTypes } from './transaction.ts';

/** Returns whether an individual only received the money, in which case the payer is hidden. */
const isReceived = ({ userId, userType }: Pick<Caller, 'userId' | 'userType'>, { user_id }: Transaction): boolean =>
  userType === 'individual' && user_id !== userId;

/** Returns a ledger row as the API shows it to the caller. */
const presentTransaction = (caller: Pick<Caller, 'userId' | 'userType'>, row: Transaction) => ({
  id: row.id,
  user_id: isReceived(caller, row) ? null : row.user_id,
  amount: row.amount,
  status: row.status,
  date: row.date.toISOString(),
  source_account_id: row.source_account_id,
  destination_account_id: row.destination_account_id ?? null,
  type: row.type,
  reference_type: row.reference_type,
  reference_id: row.reference_id,
  batch_id: row.batch_id,
  purpose: row.purpose,
  payment_order_id: row.payment_order_id ?? null,
  created_by: isReceived(caller, row) ? null : (row.created_by ?? null),
  updated_by: row.updated_by ?? null,
  deleted_by: row.deleted_by ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const TransactionShape = z
  .object({
    id: uuid(),
    user_id: uuid().nullable().meta({
      description: 'The payer, or who received a pot or refund; null for callers who only received a payment.',
    }),
    amount: amount(),
    status: z.enum(transactionLaw.statuses),
    date: timestamp(),
    source_account_id: uuid(),
    destination_account_id: uuid().nullable(),
    type: z.enum(transactionTypes),
    reference_type: z.enum(ledgerReferenceTypes),
    reference_id: uuid(),
    batch_id: uuid(),
    purpose: z.enum(transactionPurposes),
    payment_order_id: uuid().nullable(),
    created_by: uuid().nullable(),
    updated_by: uuid().nullable(),
    deleted_by: uuid().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Transaction' });

const TransactionDetail = TransactionShape.extend(embeddedDocumentsFields).meta({
  id: 'TransactionDetail',
});

const scope = "own and received; the organization's for its admins; all for platform";
const success = { status: z.literal('success'), statusCode: z.literal(200), message: z.string() };

const routes = createRouteGroup<DocumentView>({
  prefix: '/v1/transactions',
  tag: 'Transactions',
  description: 'The read-only ledger of money movements.',
});

routes.get(
  '/',
  {
    summary: 'List transactions',
    description:
      'Individuals also see rows that credit their accounts, without the payer. A `user_id` that the caller may not filter by is ignored.',
    access: allow('read-transaction', { scope }),
    query: listQuery().extend({
      product_id: z.string().optional(),
      reference_type: z.enum(ledgerReferenceTypes).optional(),
      type: z.enum(transactionTypes).optional(),
      user_id: uuid().optional(),
    }),
    answers: {
      200: z.object({
        ...success,
        data: z.object({ ...countedFields, transactions: z.array(TransactionShape) }),
      }),
    },
  },
  async ({ em, caller, query, requestId }) => {
    const { items, ...listed } = await findTransactions(em, caller, query);
    await recordRead(em, { resourceType: 'transaction', resourceId: null, actorId: caller.userId, requestId });
    return {
      status: 'success',
      statusCode: 200,
      message: 'Transactions found',
      data: { ...presentCounted(query, listed), transactions: items.map((row) => presentTransaction(caller, row)) },
    };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a transaction',
    access: allow('read-transaction', { scope }),
    params: z.object({ id: uuid() }),
    answers: { 200: z.object({ ...success, data: z.object({ transaction: TransactionDetail }) }) },
    refusals: [404],
  },
  async ({ em, deps, caller, params }) => {
    const transaction = await getTransaction(em, caller, params.id);
    const embedded = await embedDocuments(em, { caller, deps }, 'transaction', transaction.id);
    return {
      status: 'success',
      statusCode: 200,
      message: 'Transaction found',
      data: { transaction: { ...presentTransaction(caller, transaction), ...embedded } },
    };
  },
);

export const transactionsRoutes = routes;
