import { Router } from '@koa/router';
import type { Context } from 'koa';
import { queryLimit, queryValue, queryValues, requestFaults, requireKey } from './http.ts';
import { businessId } from './outbox.ts';
import type { Row, Store } from './store.ts';
import { invalid } from './wire-error.ts';

const transactionStatuses: Record<string, string> = {
  ACCEPTED: 'PENDING',
  SUCCEEDED: 'SUCCESS',
  FAILED: 'FAILED',
  CANCELLED: 'FAILED',
  REVERSED: 'REVERSED',
};

/** Money in and out as one list, the source of the provider's reports. */
const everything = `
  select 'PAYMENT' as type, p.id, i.reference_id, p.document ->> 'amount' as amount, p.document ->> 'status' as status,
    p.document ->> 'created' as created, p.document ->> 'created' as updated
  from payments p join instruments i on i.method_id = p.method_id
  union all
  select 'DISBURSEMENT', id, reference_id, document ->> 'amount', document ->> 'status', document ->> 'created',
    document ->> 'updated' from transfers
  union all
  select 'REFUND', id, reference_id, document ->> 'amount', document ->> 'status', document ->> 'created',
    document ->> 'updated' from refunds`;

function present(row: Row) {
  const isPayment = row.type === 'PAYMENT';
  return {
    id: `txn_${row.id}`,
    product_id: String(row.id),
    type: String(row.type),
    status: transactionStatuses[String(row.status)] ?? 'PENDING',
    channel_category: isPayment ? 'VIRTUAL_ACCOUNT' : row.type === 'REFUND' ? 'EWALLET' : 'BANK',
    channel_code: null,
    account_identifier: null,
    reference_id: String(row.reference_id),
    currency: 'IDR',
    amount: Number(row.amount),
    cashflow: isPayment ? 'MONEY_IN' : 'MONEY_OUT',
    settlement_status: 'SETTLED',
    business_id: businessId,
    fee: { xendit_fee: 0, value_added_tax: 0, status: 'COMPLETED' },
    created: String(row.created),
    updated: String(row.updated),
  };
}

function instant(ctx: Context, name: string, otherwise: string): string {
  const text = queryValue(ctx, name);
  if (text === undefined) return otherwise;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalid(`${name} is not a time`);
  return new Date(at).toISOString();
}

/** `GET /transactions`: the movements on the business's account, newest first, by keyset. */
export function transactionRoutes({ store, secretKey }: { store: Store; secretKey: string }): Router {
  const router = new Router();
  router.get('/transactions', requireKey(secretKey), requestFaults(store), (ctx) => {
    const limit = queryLimit(ctx);
    const types = queryValues(ctx, 'types');
    const after = queryValue(ctx, 'after_id');
    const last =
      after === undefined
        ? undefined
        : store.get(`select created, id from (${everything}) where 'txn_' || id = ?`, after);
    const found = store.all(
      `select * from (${everything}) where created between ? and ? and (created, id) < (?, ?)
         and (? = '' or instr(?, ',' || type || ',') > 0)
       order by created desc, id desc limit ?`,
      instant(ctx, 'created[gte]', '0000'),
      instant(ctx, 'created[lte]', '9999'),
      String(last?.created ?? '9999'),
      String(last?.id ?? ''),
      types.join(','),
      `,${types.join(',')},`,
      limit + 1,
    );
    ctx.body = { data: found.slice(0, limit).map(present), has_more: found.length > limit, links: [] };
  });
  return router;
}
