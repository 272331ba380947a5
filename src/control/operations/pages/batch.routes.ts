import type Router from '@koa/router';
import { html } from 'hono/html';
import type { Context } from 'koa';
import type { Markup } from '../../../platform/http/card-page.ts';
import { workflowIds } from '../../../shared/workflow-ids.ts';
import type { Console } from './console.routes.ts';
import { tableOf } from './lists.routes.ts';
import { batchItemColumns, type Row } from './lists.ts';
import { type Listed, unreadable } from './part.ts';
import {
  type DeliveryShown,
  deliveriesOf,
  type EventShown,
  eventsOf,
  partnerLink,
  row,
  sectionOf,
} from './payout-page.ts';
import { instant, money, type Names, nameOf, words } from './spell.ts';

interface BatchFacts {
  id: string;
  partner_id: string;
  partner_name: string | null;
  external_ref: string | null;
  status: string;
  is_final: boolean;
  count: number;
  total_amount: string;
  total_fee: string;
  made_by: string | null;
  imported_by: string | null;
  decided_by: string | null;
  rejected_by: string | null;
  lapses_at: string;
  created_at: string;
  decided_at: string | null;
  finalized_at: string | null;
}
interface KeyShown {
  id: string;
  prefix: string;
}

const itemsPerPage = 50;

/** Serves the page of one payout batch: its creator, its approver, its items, and the form that rejects it. */
export function batchPages(router: Router, pages: Console): void {
  const { call, readPart, readMe, readNames, show, goTo, workflowLink } = pages;

  /** Reads a partner's keys, whose prefixes are displayed; none if the caller may not read them. */
  async function readKeys(ctx: Context, id: string): Promise<readonly KeyShown[]> {
    const partner = await readPart<{ keys: KeyShown[] }>(ctx, 'get', '/v1/partner-accounts/:id', { params: { id } });
    return partner === null || partner === unreadable ? [] : partner.keys;
  }

  router.get('/batches/:id', async (ctx) => {
    const me = await readMe(ctx);
    const params = { id: ctx.params.id ?? '' };
    const after = new URLSearchParams(ctx.querystring).get('after');
    const batch = await call<BatchFacts>(ctx, 'get', '/v1/payout-batches/:id', { params });
    const { id, partner_id: partnerId } = batch;
    const query = { limit: String(itemsPerPage), ...(after && { after }) };
    const ofBatch = { limit: '50', resource_id: id };
    const [keys, names, items, events, webhooks] = await Promise.all([
      readKeys(ctx, partnerId),
      readNames(ctx, [batch.imported_by, batch.rejected_by]),
      readPart<Listed<Row>>(ctx, 'get', '/v1/payout-batches/:id/items', { params, query }),
      readPart<Listed<EventShown>>(ctx, 'get', '/v1/events', { query: ofBatch }),
      readPart<Listed<DeliveryShown>>(ctx, 'get', '/v1/partner-accounts/:id/webhook-deliveries', {
        params: { id: partnerId },
        query: ofBatch,
      }),
    ]);
    const path = `/operations/batches/${id}`;
    const content = html`${factsOf(batch, keys, names)}
${workflowLink(workflowIds.partnerPayoutBatch(id))}
${batch.status === 'needs_approval' && undecided(batch, me.permissions.includes('manage-partner'))}
${sectionOf(
  'Items',
  items,
  ({ items: rows, next }) => html`${tableOf({ title: 'Items', columns: batchItemColumns }, rows)}
<div class="steps">${after && html`<a href="${path}">First page</a>`}
${next !== undefined && html`<a rel="next" href="${path}?${new URLSearchParams({ after: next }).toString()}">More</a>`}</div>`,
)}
${sectionOf('Webhooks', webhooks, (shown) => deliveriesOf(partnerId, ctx.path, shown))}
${sectionOf('Events', events, eventsOf)}`;
    await show(ctx, `Batch ${batch.external_ref ?? id}`, content, me);
  });

  router.post('/batches/:id/reject', async (ctx) => {
    const params = { id: ctx.params.id ?? '' };
    await call(ctx, 'post', '/v1/payout-batches/:id/reject', { params });
    goTo(ctx, `/operations/batches/${params.id}`);
  });
}

function factsOf(batch: BatchFacts, keys: readonly KeyShown[], names: Names): Markup {
  const keyOf = (id: string): Markup => {
    const key = keys.find((one) => one.id === id);
    return html`key <code>${key ? `${key.prefix}…` : id}</code>`;
  };
  const made = batch.made_by ? keyOf(batch.made_by) : `${nameOf(names, batch.imported_by ?? '')}, from a file`;
  const by = batch.decided_by ? keyOf(batch.decided_by) : batch.rejected_by && nameOf(names, batch.rejected_by);
  return html`<dl>
${row('Status', html`<strong>${words(batch.status)}</strong>`)}
${row('Payouts', String(batch.count))}
${row('Amount', `${money(batch.total_amount)}; fees ${money(batch.total_fee)}`)}
${row('External reference', batch.external_ref)}
${row('Partner', partnerLink(batch))}
${row('Created', html`${instant(batch.created_at)} by ${made}`)}
${row(batch.status === 'rejected' ? 'Rejected' : 'Approved', batch.decided_at && html`${instant(batch.decided_at)} by ${by}`)}
${row('Lapses', batch.status === 'needs_approval' ? instant(batch.lapses_at) : null)}
${row('Ended', batch.finalized_at && instant(batch.finalized_at))}
${row('Id', html`<code>${batch.id}</code>`)}
</dl>`;
}

const undecided = (
  { id, made_by }: BatchFacts,
  mayReject: boolean,
): Markup => html`<p>Nothing is reserved yet. A key of the
partner with <code>approve-payout</code> must approve it${made_by && ', but not the key that created it'}.</p>
${
  mayReject &&
  html`<form method="post" action="/operations/batches/${id}/reject">
<div class="steps"><button class="plain">Reject this batch</button></div></form>`
}`;
