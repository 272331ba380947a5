import type Router from '@koa/router';
import { html } from 'hono/html';
import type { Context } from 'koa';
import type { Markup } from '../../../platform/http/card-page.ts';
import { sentenceOf } from '../../../platform/http/errors.ts';
import { csvLine } from '../../../shared/csv.ts';
import type { Console } from './console.routes.ts';
import { complain } from './layout.ts';
import { type ListOf, listsShown, type Row } from './lists.ts';
import type { Listed } from './part.ts';

/** The number of rows on a page, and the maximum in a CSV file. */
const perPage = 50;
const csvPages = 100;
const csvPerPage = 100;

const filled = (ctx: Context): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(ctx.querystring)].filter(([, value]) => value !== ''));

const linkTo = (path: string, query: Record<string, string>): string => {
  const text = new URLSearchParams(query).toString();
  return `/operations${path}${text && `?${text}`}`;
};

/** Returns a path with its parameters filled in. */
const fill = (path: string, params: Record<string, string>): string =>
  path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''));

function filtersOf({ path, filters }: ListOf, asked: Record<string, string>): Markup {
  return html`<form class="filters" action="/operations${path}">${filters.map(({ name, label, options, type }) => {
    const value = asked[name] ?? '';
    return html`<div><label for="${name}">${label}</label>${
      options
        ? html`<select id="${name}" name="${name}"><option value="">All</option>${options.map(
            (option) =>
              html`<option value="${option}" ${option === value && 'selected'}>${option.replaceAll('_', ' ')}</option>`,
          )}</select>`
        : html`<input id="${name}" name="${name}" type="${type ?? 'text'}" value="${value}" autocomplete="off">`
    }</div>`;
  })}<button>Filter</button></form>`;
}

/** Renders a table of rows; on a phone each is a card. */
export function tableOf(
  { columns, title }: Pick<ListOf, 'columns' | 'title'>,
  rows: Row[],
  buttonOf?: (row: Row) => Markup,
): Markup {
  return html`<table class="list">
<caption class="skip">${title}</caption>
<thead><tr>${columns.map(({ head }) => html`<th scope="col">${head}</th>`)}${buttonOf && html`<td></td>`}</tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr>${columns.map(({ head, cell, link }) => {
        const to = link?.(row);
        return html`<td data-head="${head}">${to ? html`<a href="${to}">${cell(row)}</a>` : cell(row)}</td>`;
      })}${buttonOf && html`<td data-head="">${buttonOf(row)}</td>`}</tr>`,
  )}</tbody>
</table>`;
}

function listPage(
  list: ListOf,
  asked: Record<string, string>,
  params: Record<string, string>,
  found: Listed<Row>,
): Markup {
  const { after, ...filters } = asked;
  const { items, total, next } = found;
  const action = list.action?.(params);
  const buttonOf =
    action &&
    ((row: Row) => html`<form method="post" action="${action.to(row)}">
<input type="hidden" name="back" value="${linkTo(list.path, asked)}"><button class="plain">${action.label}</button></form>`);
  return html`${list.within && html`<p><a href="/operations${fill(list.within.path, params)}">${list.within.label}</a></p>`}
${filtersOf(list, asked)}
<p class="quiet">${total === 0 ? list.none : `${total.toLocaleString('en')} found, newest first.`}
${total > 0 && html`<a href="${linkTo(`${list.path}.csv`, filters)}">As CSV</a> (${(csvPages * csvPerPage).toLocaleString('en')} rows at most)`}</p>
${items.length > 0 && tableOf(list, items, buttonOf)}
<div class="steps">${after !== undefined && html`<a href="${linkTo(list.path, filters)}">First page</a>`}
${next !== undefined && html`<a rel="next" href="${linkTo(list.path, { ...filters, after: next })}">Older</a>`}</div>`;
}

/** Serves the list pages, each also as CSV. */
export function listPages(router: Router, { call, readMe, show, orShowWhy }: Console): void {
  for (const listed of listsShown) {
    router.get(listed.path, async (ctx) => {
      const { params } = ctx;
      const list = { ...listed, path: fill(listed.path, params) };
      const me = await readMe(ctx);
      const asked = filled(ctx);
      await orShowWhy(
        ctx,
        async () => {
          const query = { limit: String(perPage), ...asked };
          const found = await call<Listed<Row>>(ctx, 'get', list.api, { params, query });
          await show(ctx, list.title, listPage(list, asked, params, found), me);
        },
        (error) => {
          if (error.code !== 'REQUEST_INVALID') throw error;
          return show(ctx, list.title, html`${complain(sentenceOf(error))}${filtersOf(list, asked)}`, me, 400);
        },
      );
    });
    router.get(`${listed.path}.csv`, async (ctx) => {
      const { params } = ctx;
      const asked = filled(ctx);
      const lines = [csvLine(listed.columns.map(({ head }) => head))];
      let after: string | undefined;
      for (let page = 0; page < csvPages; page += 1) {
        const query = { ...asked, limit: String(csvPerPage), ...(after !== undefined && { after }) };
        const { items, next } = await call<Listed<Row>>(ctx, 'get', listed.api, { params, query });
        lines.push(...items.map((row) => csvLine(listed.columns.map(({ cell, csv }) => (csv ?? cell)(row)))));
        if (next === undefined) break;
        after = next;
      }
      ctx.type = 'text/csv';
      ctx.attachment(`${listed.path.split('/').at(-1)}.csv`);
      ctx.body = lines.join('');
    });
  }
}
