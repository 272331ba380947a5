interface Parameter {
  in: string;
  name: string;
  description?: string;
  example?: unknown;
}
interface Operation {
  summary: string;
  description: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}
/** The parts of the partners' document that the collection uses. */
export interface Described {
  info: { title: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

/** Signs a request before Postman sends it, as documented (docs/contract.md 8). */
const sign = `const secret = pm.variables.get('signing_secret');
const takesKey = pm.request.headers.has('X-Idempotency-Key');
if (takesKey) pm.variables.set('idempotency_key', pm.variables.replaceIn('{{$guid}}'));
const key = takesKey ? pm.variables.get('idempotency_key') : '';
const CryptoJS = require('crypto-js');
const body = (pm.request.body && pm.request.body.raw) || '';
const path = pm.variables.replaceIn(pm.request.url.getPathWithQuery());
const time = Math.floor(Date.now() / 1000);
const whole = [time, pm.request.method, path, key, CryptoJS.SHA256(body).toString()].join('\\n');
const hmac = (text) => CryptoJS.HmacSHA256(text, secret).toString();
pm.request.headers.upsert({ key: 'x-partner-signature', value: hmac(body) });
pm.request.headers.upsert({ key: 'x-partner-signature-v2', value: 't=' + time + ',v1=' + hmac(whole) });`;

/** The partners' document as a Postman collection (format 2.1): a folder per group, each request with its example. */
export function postmanCollection({ info, servers, paths }: Described): object {
  const requests = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const folders = Map.groupBy(requests, ({ operation }) => operation.tags[0] ?? '');
  return {
    info: { name: info.title, schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
    event: [{ listen: 'prerequest', script: { type: 'text/javascript', exec: sign.split('\n') } }],
    variable: [
      { key: 'base_url', value: servers[0]?.url },
      ...['api_key', 'signing_secret'].map((key) => ({ key, value: '' })),
    ],
    item: [...folders].map(([name, within]) => ({ name, item: within.map(requestOf) })),
  };
}

function requestOf({ path, method, operation }: { path: string; method: string; operation: Operation }): object {
  const { summary, description, parameters = [], requestBody } = operation;
  const of = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const valued = ({ name, description, example = '' }: Parameter) => ({
    key: name,
    value: String(example),
    description,
  });
  const body = requestBody?.content['application/json']?.example;
  const segments = path.replace(/\{(\w+)\}/g, ':$1').slice(1);
  return {
    name: summary,
    request: {
      method: method.toUpperCase(),
      description,
      header: [
        ...of('header').map(({ name }) => ({ key: name, value: '{{idempotency_key}}' })),
        ...(body === undefined ? [] : [{ key: 'content-type', value: 'application/json' }]),
      ],
      url: {
        raw: `{{base_url}}/${segments}`,
        host: ['{{base_url}}'],
        path: segments.split('/'),
        query: of('query').map((parameter) => ({ ...valued(parameter), disabled: true })),
        variable: of('path').map(valued),
      },
      ...(body !== undefined && { body: { mode: 'raw', raw: JSON.stringify(body, null, 2) } }),
    },
    response: [],
  };
}
