import type { CaughtMail } from './mail-server.ts';
import { escapeHtml, moment, page, table } from './page.ts';

/** The mails that were caught. */
export function renderMails(mails: readonly CaughtMail[]): string {
  const rows = mails.map(({ id, to, subject, received_at }) => [
    moment(received_at),
    escapeHtml(to),
    `<a href="/mail/${encodeURIComponent(id)}">${escapeHtml(subject)}</a>`,
  ]);
  return page(
    'Mail',
    `<main><h1>Mail</h1><p class="lead">Every mail that the platform sends ends here, the newest first. As JSON: <a href="/sandbox/mail">/sandbox/mail</a>.</p>
${mails.length === 0 ? '<p>No mail was sent yet.</p>' : table('Mail', ['Received', 'To', 'Subject'], rows)}</main>`,
  );
}

/** One mail, as a mail program shows it and as plain text. */
export function renderMail({ id, from, to, subject, text, received_at }: CaughtMail): string {
  return page(
    subject,
    `<main><h1>${escapeHtml(subject)}</h1><p class="lead">From ${escapeHtml(from)} to ${escapeHtml(to)}, ${moment(received_at)}</p>
<iframe title="The mail" src="/mail/${encodeURIComponent(id)}/html" sandbox="allow-popups allow-popups-to-escape-sandbox" style="width:100%;height:28rem;border:1px solid var(--line);border-radius:.5rem"></iframe>
<h2>Plain text</h2><pre style="white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(text).replace(/https?:\/\/\S+/g, '<a href="$&" rel="noreferrer">$&</a>')}</pre></main>`,
  );
}
