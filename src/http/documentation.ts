import { readFileSync } from 'node:fs';
import Router from '@koa/router';
import { absolutePath } from 'swagger-ui-dist';

const assets = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

interface Page {
  title: string;
  /** The path of the document that the page renders, and the script that starts Swagger UI with it. */
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
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/${script}"></script>
</body>
</html>
`;
const startOf = ({ document }: Page, further = ''): string => `window.ui = SwaggerUIBundle({
  url: '${document}', dom_id: '#swagger-ui', deepLinking: true, filter: true, docExpansion: '${further ? 'list' : 'none'}',
  displayRequestDuration: true, validatorUrl: null,${further}
});
`;

/**
 * Signs what "Try it out" sends, in the browser: the secret that was entered in place of the signature is replaced by
 * both signatures, computed with it over the bytes that are sent.
 */
const signing = `
const bytes = (text) => new TextEncoder().encode(text);
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const digest = async (text) => hex(await crypto.subtle.digest('SHA-256', bytes(text)));
async function hmac(secret, text) {
  const key = await crypto.subtle.importKey('raw', bytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hex(await crypto.subtle.sign('HMAC', key, bytes(text)));
}
async function sign(request) {
  const { headers } = request;
  const secret = headers['x-partner-signature'];
  if (!secret) return request;
  const body = typeof request.body === 'string' ? request.body : '';
  const { pathname, search } = new URL(request.url, location.href);
  const time = Math.floor(Date.now() / 1000);
  const parts = [time, request.method.toUpperCase() + ' ' + pathname + search, headers['X-Idempotency-Key'] ?? '', await digest(body)];
  headers['x-partner-signature'] = await hmac(secret, body);
  headers['x-partner-signature-v2'] = 't=' + time + ',v1=' + (await hmac(secret, parts.join('.')));
  return request;
}
`;

/** Shows the code samples of an operation (`x-codeSamples`) before its responses, in the language that was chosen last. */
const samples = `
let chosen = 0;
const CodeSamples = ({ React, samples }) => {
  const [language, choose] = React.useState(chosen);
  const h = React.createElement;
  const button = ({ label }, index) => h('button', {
    key: label, type: 'button', className: 'btn', 'aria-pressed': index === language,
    style: { marginRight: 4, opacity: index === language ? 1 : 0.6 },
    onClick: () => choose((chosen = index)),
  }, label);
  return h('section', { className: 'code-samples', 'aria-label': 'Code samples', style: { padding: '8px 20px' } },
    h('h4', null, 'Code samples'), h('div', null, samples.map(button)),
    h('pre', { className: 'microlight', style: { overflowX: 'auto', whiteSpace: 'pre' } }, samples[language].source));
};
const codeSamples = () => ({
  wrapComponents: {
    responses: (Original, { React }) => (props) => {
      const operation = props.specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
      const shown = operation && React.createElement(CodeSamples, { React, samples: operation.toJS() });
      return React.createElement('div', null, shown, React.createElement(Original, props));
    },
  },
});
`;

/**
 * `/openapi.json` and `/docs`: the document and its page, all assets served by us; `/` redirects there.
 * `/openapi-partners.json` and `/docs/partners`: the partners' part of it, where "Try it out" signs requests and each
 * operation has its code samples.
 * `/docs/errors`: the errors that partners may get.
 */
export function documentation(document: object, partnerDocument: object, errorPage: string): Router {
  const router = new Router();
  const texts: [path: string, type: string, text: string][] = [
    [whole.document, 'application/json', JSON.stringify(document)],
    [forPartners.document, 'application/json', JSON.stringify(partnerDocument)],
    ['/docs', 'text/html', pageOf(whole)],
    ['/docs/partners', 'text/html', pageOf(forPartners)],
    ['/docs/errors', 'text/html', errorPage],
    ['/docs/start.js', 'text/javascript', startOf(whole)],
    [
      '/docs/start-partners.js',
      'text/javascript',
      signing +
        samples +
        startOf(forPartners, '\n  requestInterceptor: sign, tryItOutEnabled: true, plugins: [codeSamples],'),
    ],
  ];
  for (const [path, type, text] of texts) {
    router.get(path, (ctx) => {
      ctx.type = type;
      ctx.body = text;
    });
  }
  router.get('/', (ctx) => ctx.redirect('/docs'));
  for (const [name, type] of Object.entries(assets)) {
    let bytes: Buffer | undefined;
    router.get(`/docs/${name}`, (ctx) => {
      bytes ??= readFileSync(`${absolutePath()}/${name}`);
      ctx.type = type;
      ctx.set('Cache-Control', 'public, max-age=3600');
      ctx.body = bytes;
    });
  }
  return router;
}
