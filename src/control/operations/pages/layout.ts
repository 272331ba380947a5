import { html, raw } from 'hono/html';
import type { Markup } from '../../../platform/http/card-page.ts';
import { instant } from './spell.ts';

const styles = `
:root { color-scheme: light dark; --ink: #1d2329; --quiet: #59636e; --line: #d5dae0; --paper: #fff; --lift: #f5f7f9;
  --act: #0b5c8a; --bad: #a4161a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --quiet: #9aa5b1; --line: #37404a; --paper: #14181c;
  --lift: #1d2329; --act: #7cc4ee; --bad: #ff9a9a; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; border-bottom: 1px solid var(--line); }
header nav { flex-basis: 100%; display: flex; flex-wrap: wrap; gap: 0.125rem 1rem; }
header form { margin: 0; }
header form.search { display: flex; gap: 0.5rem; flex: 1 1 14rem; max-width: 28rem; margin-left: auto; }
header form.search input { min-width: 0; }
.held { border: 2px solid var(--bad); background: var(--lift); padding: 0.5rem 0.75rem; margin: 0.75rem 0 0; }
form.filters { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: end; }
form.filters input { height: 2.5rem; }
form.filters > div { flex: 1 1 10rem; max-width: 16rem; }
form.filters button { margin-top: 0.75rem; }
select { font: inherit; width: 100%; height: 2.5rem; padding: 0.4375rem 0.5rem; color: inherit; background: var(--paper);
  border: 1px solid var(--quiet); border-radius: 4px; }
p, td.id, code { overflow-wrap: anywhere; }
td[data-head=Amount] { white-space: nowrap; }
@media (max-width: 44rem) {
  table.list thead { position: absolute; left: -999rem; }
  table.list tr { display: block; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  table.list td { display: grid; grid-template-columns: 7rem 1fr; gap: 0.75rem; border: 0; padding: 0.125rem 0; width: auto;
    text-align: left; white-space: normal; overflow-wrap: anywhere; }
  table.list td:empty { display: none; }
  table.list td::before { content: attr(data-head); color: var(--quiet); }
}
footer { color: var(--quiet); font-size: 0.875rem; border-top: 1px solid var(--line); }
h1 { font-size: 1.375rem; margin: 0.75rem 0; }
h2 { font-size: 1.0625rem; margin: 1.75rem 0 0.25rem; }
a { color: var(--act); }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { position: static; }
.quiet { color: var(--quiet); }
.complaint { border-left: 4px solid var(--bad); background: var(--lift); padding: 0.5rem 0.75rem; }
ol.cards { list-style: none; }
ol.cards > li { padding: 0.375rem 0; }
ol.cards { margin: 0.5rem 0; padding: 0; }
ul.cards { list-style: none; margin: 0.5rem 0; padding: 0; border-top: 1px solid var(--line); }
ul.cards > li { padding: 0.625rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: 0.25rem 1rem; margin: 0.5rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
th, td { text-align: left; padding: 0.3125rem 0.75rem 0.3125rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
.number { font-variant-numeric: tabular-nums; text-align: right; width: 5.5rem; white-space: nowrap; }
.age { width: 8.25rem; white-space: nowrap; }
label, legend { display: block; margin-top: 0.75rem; font-weight: 600; }
label.choice { font-weight: normal; margin-top: 0.25rem; }
fieldset { border: 0; margin: 0.75rem 0 0; padding: 0; }
legend { padding: 0; }
input:not([type=radio]), textarea { font: inherit; width: 100%; max-width: 32rem; padding: 0.4375rem 0.5rem; color: inherit;
  background: var(--paper); border: 1px solid var(--quiet); border-radius: 4px; }
button { font: inherit; padding: 0.375rem 0.875rem; border: 1px solid var(--act); border-radius: 4px; background: var(--act);
  color: var(--paper); cursor: pointer; }
button.plain { background: transparent; color: var(--act); }
.steps { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; margin: 0.75rem 0; }
`;

/** The state of the switch for all payouts, as returned by the API. */
export interface SwitchShown {
  enabled: boolean;
  reason: string | null;
  changed_by: string | null;
  changed_at: string | null;
}

const places: [path: string, words: string, permission?: string][] = [
  ['', 'Overview'],
  ['/payouts', 'Payouts'],
  ['/payouts?kind=payment_refund', 'Refunds'],
  ['/batches', 'Batches'],
  ['/payments', 'Payments'],
  ['/receipts', 'Receipts'],
  ['/decisions', 'Decisions'],
  ['/partners', 'Partners', 'manage-partner'],
  ['/events', 'Events'],
  ['/switch', 'Switch'],
];

interface Visitor {
  name: string;
  permissions: string[];
}

const navigation = ({ name, permissions }: Visitor): Markup => html`<span class="quiet">${name}</span>
<form class="search" role="search" action="/operations/search">
<label class="skip" for="q">Search</label>
<input id="q" name="q" type="search" maxlength="254" required autocomplete="off" placeholder="Id, reference, e-mail address">
<button class="plain">Search</button>
</form>
<form method="post" action="/operations/log-out"><button class="plain">Log out</button></form>
<nav aria-label="Operations">${places
  .filter(([, , permission]) => permission === undefined || permissions.includes(permission))
  .map(([path, words]) => html`<a href="/operations${path}">${words}</a>`)}</nav>`;

/**
 * Renders a whole page for operators; `who` is the logged-in user, or null. `held` is the switch while it holds all
 * payouts.
 */
export const layout = (
  title: string,
  content: Markup,
  who: Visitor | null,
  held: SwitchShown | null,
): Markup => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Amanah operations</title>
<style>${raw(styles)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<strong><a href="/operations">Amanah operations</a></strong>
${who && navigation(who)}
</header>
<main id="content">
${
  held &&
  html`<p class="held" role="status"><strong>All payouts are held</strong>${held.changed_at && ` since ${instant(held.changed_at)}`}:
${held.reason}. Nothing is sent until <a href="/operations/switch">the switch</a> releases them.</p>`
}
<h1>${title}</h1>
${content}
</main>
<footer>Times are Western Indonesia Time (WIB, UTC+7). The runbook explains each item and what to do: <code>docs/runbook</code>.</footer>
</body>
</html>
`;

/** Renders a refusal, which screen readers announce at once. */
export const complain = (message: string | null): Markup | null =>
  message === null ? null : html`<p class="complaint" role="alert">${message}</p>`;
