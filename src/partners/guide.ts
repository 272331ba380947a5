import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';
import { npmPackage, sdkSource, wheel } from './sdk-packages.ts';

/** The guide's pages in reading order, each with its menu title. */
export const guidePages = {
  start: 'Start',
  concepts: 'Concepts',
  instruments: 'Reusable numbers',
  batches: 'Batches',
  testing: 'Testing',
  webhooks: 'Webhooks',
  'going-live': 'Going live',
} as const;
export type GuidePage = keyof typeof guidePages;

/** The addresses for the reader's calls; `sandbox` is null if unknown. */
export interface GuideAddresses {
  api: string;
  sandbox: string | null;
}

const styles = `
:root { color-scheme: light dark; --line: #8886; }
body { margin: 0 auto; max-width: 50rem; padding: 0.75rem 1rem 4rem; font: 16px/1.55 system-ui, sans-serif; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; border-bottom: 1px solid var(--line); padding-bottom: 0.5rem; }
nav a[aria-current] { font-weight: 600; text-decoration: none; color: inherit; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.75rem; }
code { font: 0.875em ui-monospace, monospace; overflow-wrap: anywhere; }
pre code, .table code { overflow-wrap: normal; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid var(--line); }
td + td { min-width: 9rem; }
dt { margin-top: 1rem; overflow-wrap: anywhere; font-weight: 600; }
dd { margin: 0.125rem 0 0; }
`;

export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/<[^>]*>|[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-');

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    table(token) {
      const row = (tag: string, cells: typeof token.header) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const rows = token.rows.map((cells) => row('td', cells)).join('\n');
      return `<div class="table"><table><thead>${row('th', token.header)}</thead><tbody>${rows}</tbody></table></div>\n`;
    },
  },
});

/** Renders Markdown as HTML, unescaped: the texts are our own. */
export const renderMarkdown = (text: string): string => marked.parse(text, { async: false });

/** Renders a line of Markdown as HTML, without a paragraph around it. */
export const renderLine = (text: string): string => String(marked.parseInline(text, { async: false }));

const links: readonly [path: string, title: string][] = [
  ...Object.entries(guidePages).map(([page, title]): [string, string] => [`/docs/partners/${page}`, title]),
  ['/docs/errors', 'Errors'],
  ['/docs/sdk', 'Clients'],
  ['/docs/partners', 'Reference'],
];

const appLinks: typeof links = [
  ['/docs/start', 'First hour'],
  ['/docs', 'Reference'],
];

/** Wraps a guide page around HTML, with the menu of all pages. */
export function guideLayout(
  path: string,
  title: string,
  body: string,
  readers: 'apps' | 'partners' = 'partners',
): string {
  const menu = (readers === 'apps' ? appLinks : links).map(
    ([to, name]) => `<a href="${to}"${to === path ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Amanah for ${readers}</title>
<link rel="icon" href="data:,">
<style>${styles}</style>
</head>
<body>
<nav aria-label="Guide">${menu.join('\n')}</nav>
<main>
${body}
</main>
</body>
</html>
`;
}

const receivers = { Express: 'express', Fastify: 'fastify', 'Next.js': 'nextjs' };
/** Webhook receivers that use the installed client; the tests run them. */
const showReceivers = (): string =>
  Object.entries(receivers)
    .map(([name, file]) => {
      const source = readFileSync(join(sdkSource, 'receivers', `${file}.ts`), 'utf8');
      return `### ${name}\n\n\`\`\`ts\n${source.replace('../index.ts', 'amanah-partner')}\`\`\``;
    })
    .join('\n\n');

/** Reads one of our texts and fills in the addresses, file names and versions of this API. */
function readGuide(file: string, { api, sandbox }: GuideAddresses): string {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    .replaceAll('{{api}}', api)
    .replaceAll('{{sandbox}}', sandbox ?? `\${AMANAH_SANDBOX_URL:?the sandbox's address}`)
    .replace('{{receivers}}', showReceivers)
    .replaceAll('{{npm}}', npmPackage)
    .replaceAll('{{wheel}}', wheel);
  return renderMarkdown(text);
}

/** A page of the partners' guide. */
export const guidePage = (page: GuidePage, addresses: GuideAddresses): string =>
  guideLayout(`/docs/partners/${page}`, guidePages[page], readGuide(`guide/${page}.md`, addresses));

/** The first page for app developers. */
export const appPage = (addresses: GuideAddresses): string =>
  guideLayout('/docs/start', 'The first hour of an app', readGuide('../../docs/app-first-hour.md', addresses), 'apps');

/** The file name of the Postman collection. */
export const collection = 'amanah-partner.postman_collection.json';

/** The page about the clients, with their installation. */
export const clientsPage = (api: string): string =>
  guideLayout(
    '/docs/sdk',
    'Clients',
    renderMarkdown(`# Clients

The clients sign requests, retry with the same key and verify webhooks. Each is generated from the API that serves it.

## Node, Deno and Bun

[${npmPackage}](/docs/sdk/${npmPackage}), from Node 20 on, with types and without dependencies:

\`\`\`sh
npm install "${api}/docs/sdk/${npmPackage}"
\`\`\`

## Python

[${wheel}](/docs/sdk/${wheel}), from Python 3.11 on, with types:

\`\`\`sh
pip install "${api}/docs/sdk/${wheel}"
\`\`\`

The [start](/docs/partners/start) shows both at work.

## Postman

Import [${collection}](/docs/sdk/${collection}) and set its variables \`api_key\` and \`signing_secret\`: each call has an example
and is signed before it is sent.
`),
  );
