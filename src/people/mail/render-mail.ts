import { html } from 'hono/html';
import mustache from 'mustache';
import type { Locale } from '../../shared/user.ts';
import { type MailFacts, type MailKind, type MailTexts, mailFamilies, tokenPaths } from './mail.ts';
import { english } from './texts-en.ts';
import { indonesian } from './texts-id.ts';

/** The text of every message, in every language. */
const mailTexts: Record<Locale, MailTexts> = { id: indonesian, en: english };

export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

interface Rendering {
  kind: MailKind;
  locale: Locale;
  /** Name, link and the other values of the template. */
  facts: MailFacts;
}

const styles = {
  body: 'margin:0;padding:16px;background:#f5f7f9;color:#1d2329;font:16px/1.5 system-ui,-apple-system,sans-serif',
  box: 'max-width:32rem;margin:0 auto;padding:20px;background:#fff;border:1px solid #d5dae0;border-radius:8px;overflow-wrap:anywhere',
  button:
    'display:inline-block;padding:10px 18px;background:#0b5c8a;color:#fff;border-radius:6px;font-weight:600;text-decoration:none',
  quiet: 'color:#59636e;font-size:14px',
  link: 'color:#0b5c8a',
};

/** Renders a message's subject and its two parts; `html` escapes user input. */
export function renderMail({ kind, locale, facts }: Rendering): RenderedMail {
  const { frame, [kind]: template } = mailTexts[locale];
  const fill = (text: string) => mustache.render(text, facts, undefined, { escape: String });
  const greeting = fill(frame.greeting);
  const paragraphs = template.paragraphs.map(fill);
  // The text of a message with a token explains what to do if it was not expected.
  const security = kind in tokenPaths ? null : frame.security;
  const footer = mailFamilies[kind] === 'security' ? security : frame.chosen;
  const { unsubscribe } = facts;
  const button =
    template.button !== undefined && facts.link !== undefined ? { text: template.button, link: facts.link } : null;
  const subject = fill(template.subject);
  const [first, ...rest] = paragraphs;
  const text = [
    greeting,
    first,
    ...(button ? [`${button.text}:\n${button.link}`] : []),
    ...rest,
    [
      '-- ',
      'Amanah',
      ...(footer ? [footer] : []),
      ...(unsubscribe ? [`${frame.unsubscribe}: ${unsubscribe}`] : []),
    ].join('\n'),
  ];
  const page = html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${subject}</title>
</head>
<body style="${styles.body}">
<div style="${styles.box}">
<p>${greeting}</p>
<p>${first}</p>
${button && html`<p><a href="${button.link}" style="${styles.button}">${button.text}</a></p>`}
${rest.map((paragraph) => html`<p>${paragraph}</p>`)}
<p style="${styles.quiet}">Amanah${footer && html`<br>${footer}`}${unsubscribe && html`<br><a href="${unsubscribe}" style="${styles.link}">${frame.unsubscribe}</a>`}</p>
</div>
</body>
</html>
`;
  return { subject, text: `${text.join('\n\n')}\n`, html: String(page) };
}
