import type Router from '@koa/router';
import { html } from 'hono/html';
import type { Context } from 'koa';
import { type DomainError, errorStatuses } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import type { Console } from './console.routes.ts';
import { complain, type Markup } from './layout.ts';
import { instant, money } from './spell.ts';

interface BatchShown {
  id: string;
  external_ref: string | null;
  count: number;
  total_amount: string;
  total_fee: string;
  lapses_at: string;
}

const complaintsOf = ({ message, messages = [] }: DomainError): Markup =>
  messages.length > 1
    ? html`<div class="complaint" role="alert"><p>Nothing was imported: ${messages.length} things are wrong.</p>
<ul>${messages.map((one) => html`<li>${one}</li>`)}</ul></div>`
    : html`${complain(message)}`;

// The key makes a form that is sent twice one batch.
const importForm = (partnerId: string, refusal: DomainError | null): Markup => html`${refusal && complaintsOf(refusal)}
<form method="post" enctype="multipart/form-data" action="/operations/partners/${partnerId}/import?key=${newId()}">
<label for="file">File in CSV</label>
<input id="file" name="file" type="file" accept=".csv,text/csv" required aria-describedby="about-file">
<p class="quiet" id="about-file">Its first line names the columns <code>external_ref, amount, bank_code, bank_account_number,
beneficiary_name</code>; each line after it is a payout, at most 1,000. Amounts are in rupiah without separators: fifty thousand
is <code>50000</code>.</p>
<label for="external_ref">Reference of the batch</label>
<input id="external_ref" name="external_ref" maxlength="128" autocomplete="off">
<div class="steps"><button>Import</button> <a href="/operations/partners/${partnerId}">Back</a></div>
</form>`;

const importedBatch = (partnerId: string, batch: BatchShown): Markup => html`<dl>
<dt>Batch</dt><dd>${batch.external_ref} <code>${batch.id}</code></dd>
<dt>Payouts</dt><dd>${batch.count}</dd>
<dt>Amount</dt><dd>${money(batch.total_amount)}; fees ${money(batch.total_fee)}</dd>
<dt>Waits until</dt><dd>${instant(batch.lapses_at)}</dd>
</dl>
<p>Nothing is reserved yet: a key of the partner with <code>approve-payout</code> has to approve it.</p>
<p><a href="/operations/partners/${partnerId}">Back to the partner</a></p>`;

/** The page on which an operator imports a batch of a partner's payouts from a file. */
export function importPages(router: Router, { call, readMe, show, orShowWhy }: Console): void {
  const title = 'Import a batch of payouts';
  const idOf = (ctx: Context): string => ctx.params.id ?? '';

  router.get('/partners/:id/import', async (ctx) => {
    const me = await readMe(ctx);
    await call(ctx, 'get', '/v1/partner-accounts/:id', { params: { id: idOf(ctx) } });
    await show(ctx, title, importForm(idOf(ctx), null), me);
  });
  router.post('/partners/:id/import', async (ctx) => {
    const me = await readMe(ctx);
    const params = { id: idOf(ctx) };
    ctx.headers['idempotency-key'] = new URLSearchParams(ctx.querystring).get('key') ?? undefined;
    await orShowWhy(
      ctx,
      async () => {
        // The route reads the file from the request itself.
        const batch = await call<BatchShown>(ctx, 'post', '/v1/partner-accounts/:id/payout-batches', { params });
        await show(ctx, 'Batch imported', importedBatch(params.id, batch), me);
      },
      (error) => show(ctx, title, importForm(params.id, error), me, errorStatuses[error.code]),
    );
  });
}
