import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import Router from '@koa/router';
import { staticAsset } from './static-asset.ts';

/**
 * Returns the path of the renderer, Scalar, as one file without imports, which later versions of the package lack
 * (docs/decisions/reference-by-scalar.md). We use nothing else from the package.
 */
const rendererPath = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference')), 'js', 'standalone.js');

/** The renderer's placeholder for an empty secret: a joke in base64, which readers mistake for a value. */
const strangePlaceholder = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT';
const renderer = (): string =>
  readFileSync(rendererPath(), 'utf8').replaceAll(strangePlaceholder, 'The signing secret');

interface Page {
  title: string;
  /** The path of the document that the page renders, and the script that starts the renderer with it. */
  document: string;
  script: string;
}
const whole: Page = { title: 'Amanah API', document: '/openapi.json', script: 'start.js' };
const forPartners: Page = {
  title: 'Amanah for partners',
  document: '/openapi-partners.json',
  script: 'start-partners.js',
};

const pageOf = ({ title, script }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"></div>
<script src="/docs/renderer.js"></script>
<script src="/docs/${script}"></script>
</body>
</html>
`;

/** The page contacts no third party, and discards its input when closed. */
const startOf = ({ document }: Page, further = ''): string => `Scalar.createApiReference('#reference', {
  url: '${document}', telemetry: false, withDefaultFonts: false, persistAuth: false, proxyUrl: '',
  hideClientButton: true, showDeveloperTools: 'never', agent: { disabled: true }, mcp: { disabled: true },
  documentDownloadType: 'direct', orderSchemaPropertiesBy: 'preserve', hiddenClients: true,${further}
});
`;

/**
 * Signs the requests of "Test Request" in the browser: both signatures, computed with the entered secret over the
 * request as sent, replace the secret. If the browser cannot sign, for lack of https, the secret is not sent either.
 */
const signing = `
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
async function hmac(secret, bytes) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign']);
  return hex(await crypto.subtle.sign('HMAC', key, bytes));
}
async function sign({ request }) {
  const { headers, method, url } = request;
  const secret = headers.get('x-partner-signature');
  if (!secret) return;
  headers.delete('x-partner-signature');
  const body = await request.clone().arrayBuffer();
  const { pathname, search } = new URL(url);
  const time = Math.floor(Date.now() / 1000);
  const digest = hex(await crypto.subtle.digest('SHA-256', body));
  const parts = [time, method, pathname + search, headers.get('x-idempotency-key') ?? '', digest];
  headers.set('x-partner-signature', await hmac(secret, body));
  const whole = await hmac(secret, new TextEncoder().encode(parts.join('\\n')));
  headers.set('x-partner-signature-v2', 't=' + time + ',v1=' + whole);
}
const authentication = {
  preferredSecurityScheme: [['partnerKey', 'partnerSignature']],
  securitySchemes: { partnerSignature: { description: 'The signing secret. This page signs with it and never sends it.' } },
};
`;

/** A page or file served unchanged; read at its first request. */
export interface Asset {
  path: string;
  type: string;
  read: () => Buffer | string;
}

/**
 * Serves `/openapi.json` and `/docs`: the document and its page, with all assets served by us; `/` redirects there.
 * `/openapi-partners.json` and `/docs/partners`: the partners' document, where "Test Request" signs requests and each
 * operation has code samples; and the partners' guide.
 */
export function documentation(
  buildDocument: () => object,
  buildPartnerDocument: () => object,
  guide: readonly Asset[],
): Router {
  const router = new Router();
  const script = 'text/javascript';
  const assets: readonly Asset[] = [
    { path: whole.document, type: 'application/json', read: () => JSON.stringify(buildDocument()) },
    { path: forPartners.document, type: 'application/json', read: () => JSON.stringify(buildPartnerDocument()) },
    { path: '/docs', type: 'text/html', read: () => pageOf(whole) },
    { path: '/docs/partners', type: 'text/html', read: () => pageOf(forPartners) },
    { path: '/docs/start.js', type: script, read: () => startOf(whole) },
    {
      path: '/docs/start-partners.js',
      type: script,
      read: () => signing + startOf(forPartners, '\n  onRequestBuilt: sign, authentication,'),
    },
    { path: '/docs/renderer.js', type: script, read: renderer },
    ...guide,
  ];
  for (const { path, type, read } of assets) router.get(path, staticAsset(type, read));
  router.get('/', (ctx) => ctx.redirect('/docs'));
  return router;
}
