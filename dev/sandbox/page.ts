const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/** Escapes a text for HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign);

export const rupiah = (amount: number): string => `Rp ${amount.toLocaleString('id-ID')}`;

const clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'Asia/Jakarta' });
/** An instant in Jakarta time, as HTML. */
export const moment = (iso: string): string =>
  `<time datetime="${escapeHtml(iso)}">${clock.format(new Date(iso))} WIB</time>`;

const style = `
  :root { color-scheme: light dark; --line: #8886; --accent: #0b6e4f; --warn: #b3261e; }
  * { box-sizing: border-box; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; }
  h1 { font-size: 1.5rem; margin: 0 0 .75rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
  nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-bottom: 1rem; }
  .lead { margin: 0 0 1.5rem; opacity: .75; }
  table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .5rem .5rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
  td.amount, th.amount { text-align: right; white-space: nowrap; padding-right: 0; }
  .scroll { overflow-x: auto; }
  @media (max-width: 40rem) {
    thead { display: none; }
    tr, td { display: block; } tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
    td, td.amount { display: flex; justify-content: space-between; gap: 1rem; text-align: right; white-space: normal; border: 0; padding: .15rem 0; overflow-wrap: anywhere; }
    td:empty { display: none !important; }
    td::before { content: attr(data-label); opacity: .75; text-align: left; white-space: nowrap; }
  }
  .grow { flex: 1 1 16rem; } .grow input { width: 100%; }
  .card { border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; }
  .sum { font-size: 2rem; font-weight: 600; margin: .25rem 0; }
  .code { font: 1.25rem ui-monospace, monospace; overflow-wrap: anywhere; user-select: all; }
  .small { font-size: .85rem; }
  img { display: block; width: min(100%, 17rem); height: auto; background: #fff; border-radius: .5rem; margin: .75rem 0; }
  form.actions, div.actions { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-top: 1.25rem; }
  label { display: block; font-size: .85rem; }
  fieldset { border: 1px solid var(--line); border-radius: .5rem; margin: 0 0 1rem; }
  input[type=checkbox] { width: auto; } input[type=checkbox] + label { display: inline; }
  input, select { font: inherit; padding: .5rem .6rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit; width: 12rem; max-width: 100%; }
  button { font: inherit; font-weight: 600; padding: .55rem 1.1rem; border-radius: .5rem; border: 1px solid var(--line); background: transparent; color: inherit; cursor: pointer; }
  button.pay { background: var(--accent); border-color: var(--accent); color: #fff; }
  button.decline { color: var(--warn); border-color: var(--warn); }
  :focus-visible { outline: 3px solid #4c9ffe; outline-offset: 2px; }
  .notice { border-left: 4px solid var(--warn); padding: .5rem .75rem; margin: 0 0 1rem; }
  .state { font-weight: 600; }
  @media (prefers-color-scheme: dark) { :root { --accent: #1b8a66; --warn: #f2857d; } }
`;

/** A whole page around a body of HTML. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} - Sandbox provider</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<nav><a href="/">Payments and payouts</a> <a href="/controls">Controls</a> <a href="/mail">Mail</a></nav>
${body}
</body>
</html>
`;
}

export const noticeOf = (notice: string | undefined): string =>
  notice === undefined ? '' : `<p class="notice" role="alert">${escapeHtml(notice)}</p>`;

/** A table whose cells are HTML; on a phone each row is a list of its cells. */
export function table(caption: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const kind = (index: number) => (columns[index] === 'Amount' ? ' class="amount"' : '');
  const head = columns.map((column, index) => `<th scope="col"${kind(index)}>${column}</th>`);
  const body = rows.map((cells) => {
    const filled = cells.map((cell, index) => `<td${kind(index)} data-label="${columns[index]}">${cell}</td>`);
    return `<tr>${filled.join('')}</tr>`;
  });
  return `<div class="scroll" role="region" tabindex="0" aria-label="${escapeHtml(caption)}"><table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody>
</table></div>`;
}

/** A page with one sentence. */
export const renderMessage = (message: string): string => page(message, `<main><h1>${escapeHtml(message)}</h1></main>`);
