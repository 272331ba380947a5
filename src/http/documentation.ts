import { readFileSync } from 'node:fs';
import Router from '@koa/router';
import { absolutePath } from 'swagger-ui-dist';

const assets = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

const pageOfDocs = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Amanah API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
const startScript = `window.ui = SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, filter: true, docExpansion: 'none',
  displayRequestDuration: true, validatorUrl: null,
});
`;

/** `/openapi.json` and `/docs`: the rendered document, every file of it served by us. `/` leads there. */
export function documentation(document: object): Router {
  const router = new Router();
  const text = JSON.stringify(document);
  router.get('/openapi.json', (ctx) => {
    ctx.type = 'application/json';
    ctx.body = text;
  });
  router.get('/', (ctx) => ctx.redirect('/docs'));
  router.get('/docs', (ctx) => {
    ctx.type = 'text/html';
    ctx.body = pageOfDocs;
  });
  router.get('/docs/start.js', (ctx) => {
    ctx.type = 'text/javascript';
    ctx.body = startScript;
  });
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
