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
h1 { font-size: 1.375rem; line-height: 1.25; margin: 0; }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`;

/** Renders a public page: one card with a heading, without scripts, hidden from search engines. */
export const cardPage = (
  { lang, title, heading = title, style }: { lang: string; title: string; heading?: string; style: string },
  content: Markup,
): Markup => html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${raw(styles + style)}</style>
</head>
<body>
<main>
<h1>${heading}</h1>
${content}
</main>
</body>
</html>
`;
