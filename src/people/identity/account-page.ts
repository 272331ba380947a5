import { html, raw } from 'hono/html';

/** Markup in which every value is escaped. */
export type Markup = ReturnType<typeof html>;

const styles = `
:root { color-scheme: light dark; --ink: #1d2329; --line: #d5dae0; --paper: #f5f7f9; --lift: #fff; --act: #0b5c8a; --bad: #a4161a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --line: #37404a; --paper: #14181c; --lift: #1d2329; --act: #7cc4ee; --bad: #ff9a9a; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; font: 16px/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); }
main { width: 100%; max-width: 28rem; padding: 1.5rem; background: var(--lift); border: 1px solid var(--line); border-radius: 12px; }
h1 { font-size: 1.25rem; line-height: 1.25; margin: 0; }
label { display: block; font-weight: 600; }
input { font: inherit; width: 100%; padding: 0.5rem; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 6px; }
button { font: inherit; font-weight: 600; margin-top: 1rem; padding: 0.5rem 1rem; color: var(--lift); background: var(--act); border: 0;
  border-radius: 6px; cursor: pointer; }
.complaint { border-left: 4px solid var(--bad); padding: 0.25rem 0.75rem; }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`;

const layout = (title: string, content: Markup): Markup => html`<!doctype html>
<html lang="id">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Amanah</title>
<style>${raw(styles)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;

/** A page that says one thing. */
export const messagePage = (title: string, text: string, more: Markup | null = null): Markup =>
  layout(title, html`<p>${text}</p>${more}`);

/** A page with one button, and a field for a password where one is chosen. */
export const accountPage = (
  page: { path: string; title: string; text: string; button: string; takesPassword: boolean },
  token: string,
  complaint: string | null,
): Markup =>
  layout(
    page.title,
    html`<p>${page.text}</p>
${complaint !== null && html`<p class="complaint" role="alert">${complaint}</p>`}
<form method="post" action="${page.path}">
<input type="hidden" name="token" value="${token}">
${
  page.takesPassword &&
  html`<label for="password">Kata sandi · Password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="12" maxlength="256" required>`
}
<button>${page.button}</button>
</form>`,
  );
