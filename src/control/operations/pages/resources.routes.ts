import type Router from '@koa/router';
import { html } from 'hono/html';
import type { Context } from 'koa';
import type { Markup } from '../../../platform/http/card-page.ts';
import { readForm } from '../../../platform/http/forms.ts';
import { workflowIds } from '../../../shared/workflow-ids.ts';
import type { Console } from './console.routes.ts';
import type { DecisionShown } from './decision-page.ts';
import { tableOf } from './lists.routes.ts';
import { endpointColumns, pageOf, type Row } from './lists.ts';
import { proposeLink, type ReceiptShown } from './overview-page.ts';
import { type Listed, type Part, together, unreadable } from './part.ts';
import {
  cards,
  type DeliveryShown,
  decisionsOf,
  deliveriesOf,
  type EventShown,
  eventsOf,
  type JournalShown,
  journalsOf,
  nextOf,
  type OfPartner,
  type PayoutFacts,
  partnerLink,
  payoutFacts,
  payoutWorkflow,
  proposalOf,
  row,
  sectionOf,
  type TimelineShown,
  timelineOf,
} from './payout-page.ts';
import { instant, instantOr, money, words } from './spell.ts';

export interface PaymentFacts extends OfPartner {
  id: string;
  reference: string;
  external_ref: string | null;
  status: string;
  method: string;
  channel: string;
  amount: string;
  fee: string;
  net_amount: string;
  refunded_amount: string;
  provider_payment_request_id: string | null;
  instrument_id: string | null;
  expires_at: string | null;
  cancelled_at: string | null;
  created_at: string;
  finalized_at: string | null;
  available_at: string | null;
  failure_code: string | null;
}

interface PartnerFacts {
  id: string;
  name: string;
  organization_id: string;
  status: string;
  fee_mode: string;
  payouts_enabled: boolean;
  limits: { max_payout_amount: string; max_daily_amount: string; max_hourly_count: number } | null;
  keys: { id: string; prefix: string; permissions: string[]; valid_until: string | null; revoked_at: string | null }[];
}

interface FoundShown {
  type: string;
  id: string;
  text: string;
  at: string;
}

/** Serves the pages of one payout, one payment and one partner, and of a search. */
export function resourcePages(router: Router, { call, readPart, readMe, show, goTo, workflowLink }: Console): void {
  const listOf = <Item>(ctx: Context, path: string, query: Record<string, string>, params = {}) =>
    readPart<{ items: Item[]; total: number }>(ctx, 'get', path, { params, query: { limit: '50', ...query } });
  const webhooksOf = (ctx: Context, partnerId: string | null, resourceId: string) =>
    partnerId === null
      ? null
      : listOf<DeliveryShown>(
          ctx,
          '/v1/partner-accounts/:id/webhook-deliveries',
          { resource_id: resourceId },
          { id: partnerId },
        );
  /** Decisions about money in suspense. */
  async function decisionsAbout(
    ctx: Context,
    receipts: Part<Listed<ReceiptShown>>,
  ): Promise<Part<Listed<DecisionShown>>> {
    if (receipts === null || receipts === unreadable) return receipts;
    const lists = together(
      await Promise.all(
        receipts.items.map(({ id }) => listOf<DecisionShown>(ctx, '/v1/decisions', { receipt_id: id })),
      ),
    );
    if (lists === null || lists === unreadable) return lists;
    const items = lists.flatMap((list) => list.items);
    return { items, total: items.length };
  }
  /** The journals that events name, oldest first. */
  async function journalsNamed(ctx: Context, events: Part<Listed<EventShown>>): Promise<Part<JournalShown[]>> {
    if (events === null || events === unreadable) return events;
    const named = events.items.map(({ data }) => data?.journal_id).filter((id) => typeof id === 'string');
    const journals = together(
      await Promise.all(
        [...new Set(named)].map((id) => readPart<JournalShown>(ctx, 'get', '/v1/journals/:id', { params: { id } })),
      ),
    );
    if (journals === null || journals === unreadable) return journals;
    return journals.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
  }
  const idOf = (ctx: Context): Record<string, string> => ({ id: ctx.params.id ?? '' });

  router.get('/payouts/:id', async (ctx) => {
    const me = await readMe(ctx);
    const params = idOf(ctx);
    const payout = await call<PayoutFacts>(ctx, 'get', '/v1/payouts/:id', { params });
    const [timeline, decisions, events, webhooks] = await Promise.all([
      readPart<TimelineShown>(ctx, 'get', '/v1/payouts/:id/timeline', { params }),
      listOf<DecisionShown>(ctx, '/v1/decisions', { payout_id: payout.id }),
      listOf<EventShown>(ctx, '/v1/events', { resource_id: payout.id }),
      webhooksOf(ctx, payout.partner_id, payout.id),
    ]);
    const journals = await journalsNamed(ctx, events);
    const content = html`${payoutFacts(payout)}
${workflowLink(payoutWorkflow(payout))}
${sectionOf('Timeline', timeline, (shown) => html`${nextOf(shown)}${timelineOf(shown)}`)}
${me.permissions.includes('propose-decision') && proposalOf(payout, timeline)}
${sectionOf('Decisions', decisions, decisionsOf)}
${sectionOf('Webhooks', webhooks, (shown) => deliveriesOf(payout.partner_id ?? '', ctx.path, shown))}
${sectionOf('Journals', journals, journalsOf)}
${sectionOf('Events', events, eventsOf)}`;
    await show(ctx, `Payout ${payout.reference}`, content, me);
  });

  router.get('/payments/:id', async (ctx) => {
    const me = await readMe(ctx);
    const params = idOf(ctx);
    const payment = await call<PaymentFacts>(ctx, 'get', '/v1/partner-payments/:id', { params });
    const [timeline, refunds, receipts, events, webhooks] = await Promise.all([
      readPart<TimelineShown>(ctx, 'get', '/v1/partner-payments/:id/timeline', { params }),
      listOf<PayoutFacts>(ctx, '/v1/payouts', { payment_id: payment.id }),
      listOf<ReceiptShown>(ctx, '/v1/receipts', { reference: payment.id }),
      listOf<EventShown>(ctx, '/v1/events', { resource_id: payment.id }),
      webhooksOf(ctx, payment.partner_id, payment.id),
    ]);
    const [decisions, journals] = await Promise.all([decisionsAbout(ctx, receipts), journalsNamed(ctx, events)]);
    const mayPropose = me.permissions.includes('propose-decision');
    const content = html`${paymentFacts(payment)}
${workflowLink(
  payment.instrument_id ? workflowIds.partnerInstrument(payment.instrument_id) : workflowIds.partnerPayment(payment.id),
)}
${sectionOf('Timeline', timeline, (shown) => html`${nextOf(shown)}${timelineOf(shown)}`)}
${sectionOf('Refunds', refunds, refundsOf)}
${sectionOf('Money in suspense', receipts, (shown) => receiptsOf(shown, mayPropose))}
${sectionOf('Decisions', decisions, decisionsOf)}
${sectionOf('Webhooks', webhooks, (shown) => deliveriesOf(payment.partner_id ?? '', ctx.path, shown))}
${sectionOf('Journals', journals, journalsOf)}
${sectionOf('Events', events, eventsOf)}`;
    await show(ctx, `Payment ${payment.reference}`, content, me);
  });

  router.get('/partners/:id', async (ctx) => {
    const me = await readMe(ctx);
    const params = idOf(ctx);
    const partner = await call<PartnerFacts>(ctx, 'get', '/v1/partner-accounts/:id', { params });
    const [endpoints, deliveries] = await Promise.all([
      listOf<Row>(ctx, '/v1/partner-accounts/:id/webhook-endpoints', {}, params),
      readPart<Listed<DeliveryShown>>(ctx, 'get', '/v1/partner-accounts/:id/webhook-deliveries', {
        params,
        query: { limit: '5' },
      }),
    ]);
    const content = html`${partnerFacts(partner)}
<p><a href="/operations/payouts?partner_id=${partner.id}">Payouts of the partner</a> · <a href="/operations/payments?partner_id=${partner.id}">Payments</a> · <a href="/operations/batches?partner_id=${partner.id}">Batches</a> · <a href="/operations/partners/${partner.id}/import">Import a batch of payouts</a></p>
${sectionOf('Webhook endpoints', endpoints, ({ items }) =>
  items.length === 0
    ? html`<p class="quiet">None.</p>`
    : tableOf({ title: 'Webhook endpoints', columns: endpointColumns(partner.id) }, items),
)}
${sectionOf(
  'Latest webhooks',
  deliveries,
  (shown) => html`${deliveriesOf(partner.id, ctx.path, shown)}
${shown.total > 0 && html`<p><a href="/operations/partners/${partner.id}/deliveries">All ${shown.total.toLocaleString('en')} deliveries</a></p>`}`,
)}`;
    await show(ctx, partner.name, content, me);
  });

  router.post('/partners/:id/webhooks/:delivery_id/redeliver', async (ctx) => {
    const { back = '' } = await readForm(ctx);
    const { id = '', delivery_id = '' } = ctx.params;
    const params = { id, delivery_id };
    await call(ctx, 'post', '/v1/partner-accounts/:id/webhook-deliveries/:delivery_id/redeliver', { params });
    // Redirects only to our own pages, whatever the form contains.
    goTo(ctx, /^\/operations\/[\w/-]+(\?[\w=&%.+-]*)?$/.test(back) ? back : `/operations/partners/${id}`);
  });

  router.get('/search', async (ctx) => {
    const me = await readMe(ctx);
    const q = new URLSearchParams(ctx.querystring).get('q') ?? '';
    const { items } = await call<{ items: FoundShown[] }>(ctx, 'get', '/v1/search', { query: { q } });
    const [only] = items;
    const page = only && items.length === 1 ? pageOf(only.type, only.id) : null;
    if (page !== null && page !== undefined) return goTo(ctx, page);
    const content =
      items.length === 0
        ? html`<p class="quiet">No exact match for this id, reference or e-mail address: ${q}</p>`
        : html`<ul class="cards">${items.map((found) => {
            const to = pageOf(found.type, found.id);
            return html`<li>${to ? html`<a href="${to}">${found.text}</a>` : found.text}
<br><span class="quiet">${words(found.type)} ${found.id}, ${instant(found.at)}</span>
${found.type === 'user' && html`<br><a href="/operations/payouts?user_id=${found.id}">Withdrawals</a>`}</li>`;
          })}</ul>`;
    await show(ctx, 'Found', content, me);
  });
}

const refundsOf = ({ items }: Listed<PayoutFacts>): Markup =>
  cards(
    'None.',
    items,
    ({ id, reference, status, amount, created_at }) =>
      html`<a href="/operations/payouts/${id}">${reference}</a>, ${money(amount)}: ${words(status)}
<br><span class="quiet">${instant(created_at)}</span>`,
  );

/** Offers to propose where suspended money goes, to those who may. */
const receiptsOf = ({ items }: Listed<ReceiptShown>, mayPropose: boolean): Markup =>
  cards(
    'None.',
    items,
    (receipt) => html`${money(receipt.amount)}: ${words(receipt.status)}
<br><span class="quiet">${instant(receipt.received_at)}: ${words(receipt.reason ?? '')}</span>
${mayPropose && receipt.status === 'suspended' && proposeLink('Propose a settlement', { kind: 'settle_receipt', receipt_id: receipt.id })}`,
  );

/** Status, partner and amounts: whoever approves a decision about the payment sees the same facts. */
export const paymentFacts = (payment: PaymentFacts): Markup => html`<dl>
<dt>Status</dt><dd><strong>${words(payment.status)}</strong>${payment.failure_code && `, ${payment.failure_code}`}</dd>
<dt>Amount</dt><dd>${money(payment.amount)}; fee ${money(payment.fee)}; net ${money(payment.net_amount)}; refunded ${money(payment.refunded_amount)}</dd>
<dt>By</dt><dd>${words(payment.method)}, ${payment.channel}</dd>
<dt>Partner</dt><dd>${partnerLink(payment)}</dd>
${payment.external_ref && html`<dt>External reference</dt><dd>${payment.external_ref}</dd>`}
${row('Instrument', payment.instrument_id)}
${row('Provider’s id', payment.provider_payment_request_id ?? (payment.instrument_id ? null : 'none yet'))}
<dt>Requested</dt><dd>${instant(payment.created_at)}</dd>
${row('Expires', payment.expires_at && instant(payment.expires_at))}
${row('Cancelled', payment.cancelled_at && instant(payment.cancelled_at))}
<dt>Finalized</dt><dd>${instantOr(payment.finalized_at, 'not yet')}</dd>
<dt>Available</dt><dd>${instantOr(payment.available_at, 'not yet')}</dd>
<dt>Id</dt><dd><code>${payment.id}</code></dd>
</dl>`;

const partnerFacts = ({
  id,
  status,
  fee_mode,
  payouts_enabled,
  limits,
  keys,
  organization_id,
}: PartnerFacts): Markup => html`<dl>
<dt>Status</dt><dd><strong>${words(status)}</strong></dd>
<dt>Payouts</dt><dd>${payouts_enabled ? 'on' : 'suspended'}</dd>
<dt>Limits</dt><dd>${limits === null ? 'none set, so payouts are suspended' : `${money(limits.max_payout_amount)} a payout, ${money(limits.max_daily_amount)} in 24 hours, ${limits.max_hourly_count} payouts an hour`}</dd>
<dt>Fee mode</dt><dd>${words(fee_mode)}</dd>
<dt>Organization</dt><dd>${organization_id}</dd>
<dt>Id</dt><dd><code>${id}</code></dd>
</dl>
<h2>Keys</h2>
${
  keys.length === 0
    ? html`<p class="quiet">None.</p>`
    : html`<ul class="cards">${keys.map(
        (
          key,
        ) => html`<li><code>${key.prefix}…</code> ${key.revoked_at ? `revoked ${instant(key.revoked_at)}` : key.valid_until ? `valid until ${instant(key.valid_until)}` : 'valid'}
<br><span class="quiet">${key.permissions.join(', ')}</span></li>`,
      )}</ul>`
}`;
