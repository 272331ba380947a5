import type Router from '@koa/router';
import { html } from 'hono/html';
import type { Context } from 'koa';
import type { Markup } from '../../../platform/http/card-page.ts';
import { type DomainError, errorStatuses } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import type { Console } from './console.routes.ts';
import { complain } from './layout.ts';

const complaintsOf = ({ message, messages = [] }: DomainError): Markup =>
  messages.length > 1
    ? html`<div class="complaint" role="alert"><p>Nothing was imported. Errors found: ${messages.length}</p>
<ul>${messages.map((one) => html`<li>${one}</li>`)}</ul></div>`
    : html`${complain(message)}`;

// The key makes a form that is submitted twice create one batch.
const importForm = (
  partnerId: string,
  refusal: DomainError | null,
  key = newId(),
): Markup => html`${refusal && complaintsOf(refusal)}
<form method="post" enctype="multipart/form-data" action="/operations/partners/${partnerId}/import?key=${key}">
<label for="file">CSV file</label>
<input id="file" name="file" type="file" accept=".csv,text/csv" required aria-describedby="about-file">
<p class="quiet" id="about-file">The first line names the columns <code>external_ref, amount, bank_code, bank_account_number,
beneficiary_name</code>; each line after it is a payout, at most 1,000. Amounts are in rupiah without separators: fifty thousand
is <code>50000</code>.</p>
<label for="external_ref">Batch reference</label>
<input id="external_ref" name="external_ref" maxlength="128" autocomplete="off">
<div class="steps"><button>Import</button> <a href="/operations/partners/${partnerId}">Back</a></div>
</form>`;

/** Serves the page on which an operator imports a batch of a partner's payouts from a file. */
export function importPages(router: Router, { call, readMe, show, goTo, orShowWhy }: Console): void {
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
    const key = new URLSearchParams(ctx.querystring).get('key') ?? newId();
    ctx.headers['idempotency-key'] = key;
    await orShowWhy(
      ctx,
      async () => {
        // The route reads the file from the request itself.
        const { id } = await call<{ id: string }>(ctx, 'post', '/v1/partner-accounts/:id/payout-batches', { params });
        goTo(ctx, `/operations/batches/${id}`);
      },
      (error) => {
        const status = errorStatuses[error.code];
        // After a 5xx the batch may exist: the same file under the same key then leads to it.
        return show(ctx, title, importForm(params.id, error, status < 500 ? newId() : key), me, status);
      },
    );
  });
}
