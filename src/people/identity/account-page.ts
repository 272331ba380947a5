import { html } from 'hono/html';
import { cardPage, type Markup } from '../../platform/http/card-page.ts';

const style = `label { display: block; font-weight: 600; }
input { font: inherit; width: 100%; padding: 0.5rem; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 6px; }
button { font: inherit; font-weight: 600; margin-top: 1rem; padding: 0.5rem 1rem; color: var(--lift); background: var(--act); border: 0;
  border-radius: 6px; cursor: pointer; }
.complaint { border-left: 4px solid var(--bad); padding: 0.25rem 0.75rem; }
`;

const layout = (heading: string, content: Markup): Markup =>
  cardPage({ lang: 'id', title: `${heading} · Amanah`, heading, style }, content);

/** Returns a page with one message. */
export const messagePage = (title: string, text: string, more: Markup | null = null): Markup =>
  layout(title, html`<p>${text}</p>${more}`);

/** A page with one button and, to set a password, a field. */
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
