import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { findFreePort } from '../../../dev/ports.ts';
import { readConfig } from '../../../src/platform/config/config.ts';
import { startTelemetry } from '../../../src/platform/process/telemetry.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { createHttp } from '../../support/http.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: { stringValue?: string; intValue?: number | string } }[];
  events?: { name: string }[];
}
interface Export {
  resourceSpans: { resource: Pick<Span, 'attributes'>; scopeSpans: { spans: Span[] }[] }[];
}

/** Returns the attributes by name, with integers as numbers. */
const attributesOf = ({ attributes }: Pick<Span, 'attributes'>): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

const spans: Span[] = [];
const requests: {
  path: string | undefined;
  token: string | string[] | undefined;
  resource: Record<string, unknown>;
}[] = [];
let collector: Server;
let stack: Stack;
let workerPort: number;
let payer: BuiltUser;
const traceId = '0af7651916cd43dd8448eb211c80319c';

/** Starts an OTLP collector over HTTP, as any tracing backend has one. */
async function startCollector(): Promise<string> {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body: Export = JSON.parse(Buffer.concat(chunks).toString());
      const [first] = body.resourceSpans;
      requests.push({
        path: request.url,
        token: request.headers['x-token'],
        resource: first === undefined ? {} : attributesOf(first.resource),
      });
      spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = collector.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

beforeAll(async () => {
  workerPort = await findFreePort();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${await startCollector()}/below/a%20path`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-token=a%20secret,x-other=1',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.namespace=money',
    WORKER_PORT: String(workerPort),
  };
  stack = await startStack({ own: true, worker: true, sandbox: true, env });
  payer = await buildIndividual(stack);
  const { status, body } = await stack.post(
    '/v1/payments/gateway',
    { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 },
    { token: payer.token, headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } },
  );
  expect(status).toBe(201);
  await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
}, 60_000);
afterAll(async () => {
  await stack.stop();
  collector.close();
});

describe('A trace', () => {
  it('A trace shows a payment from the request through workflow and activities to provider and journal', async () => {
    const mine = () => spans.filter((span) => span.traceId === traceId);
    const has = (pattern: RegExp) => mine().some(({ name }) => pattern.test(name));
    const expected = [
      /^POST \/v1\/payments\/gateway$/,
      /^UpdateWithStartWorkflow:awaitInstrument$/,
      /RunActivity:requestInstrument/,
      /^POST \/payment_requests$/,
      /^INSERT payment_orders$/,
      /RunActivity:confirmPayment/,
      /RunActivity:settlePayment/,
    ];
    // Each process sends its spans at its own pace.
    await eventually(
      async () => mine().map(({ name }) => name),
      () => expected.every(has) && mine().some(({ events = [] }) => events.some(({ name }) => name === 'journal')),
    );
    expect(JSON.stringify(mine())).not.toContain(payer.email);
    const find = (name: string) => attributesOf(mine().find((span) => span.name === name) ?? { attributes: [] });
    expect(find('POST /v1/payments/gateway')).toEqual({
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'url.path': '/v1/payments/gateway',
      'http.route': '/v1/payments/gateway',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(stack.url).port),
      'http.response.status_code': 201,
    });
    expect(find('POST /payment_requests')).toMatchObject({
      'http.request.method': 'POST',
      'url.full': expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/payment_requests$/),
      'server.port': expect.any(Number),
    });
    expect(find('INSERT payment_orders')).toMatchObject({
      'db.system.name': 'postgresql',
      'db.operation.name': 'INSERT',
      'db.collection.name': 'payment_orders',
      'db.query.summary': 'INSERT payment_orders',
      'db.namespace': expect.any(String),
    });
    await expectChecksEmpty(stack);
    if (process.env.PRINT_TRACE) process.stderr.write(`${drawTrace(mine())}\n`);
  });

  it('A trace names a method that OpenTelemetry does not know _OTHER', async () => {
    await fetch(`${stack.url}/v1/payments/channels`, { method: 'PROPFIND' });
    const isOther = (span: Span) => attributesOf(span)['http.request.method'] === '_OTHER';
    const names = async () => spans.filter(isOther).map(({ name }) => name);
    expect(await eventually(names, (found) => found.length > 0)).toEqual(['HTTP']);
  });
});

describe('The variables of OpenTelemetry', () => {
  it('OpenTelemetry’s variables set the endpoint, headers and resource attributes of exported spans', () => {
    const services = new Set(requests.map(({ resource }) => resource['service.name']));
    expect([...services].toSorted()).toEqual(['amanah-test', 'amanah-worker']);
    for (const { path, token, resource } of requests) {
      expect([path, token]).toEqual(['/below/a%20path/v1/traces', 'a secret']);
      expect(resource).toMatchObject({ 'deployment.environment.name': 'test', 'service.namespace': 'money' });
    }
  });

  it('OTEL_SDK_DISABLED turns tracing off', () => {
    const config = readConfig({
      ...stack.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_SDK_DISABLED: 'TRUE',
    });
    expect(startTelemetry(config, 'api').on).toBe(false);
  });
});

describe('Metrics', () => {
  it('The API’s metrics show requests by route and status, and the database pool', async () => {
    const { body } = await stack.get('/metrics');
    expect(body).toMatch(
      /amanah_http_request_seconds_count\{method="POST",route="\/v1\/payments\/gateway",status="201"\} 1/,
    );
    expect(body).toMatch(/amanah_database_pool_connections\{state="idle"\} \d+/);
  });

  it('The worker’s metrics show its activities by outcome and its calls to the provider by status', async () => {
    const { body } = await createHttp(`http://127.0.0.1:${workerPort}`).get('/metrics');
    expect(body).toMatch(/amanah_activity_seconds_count\{activity="requestInstrument",outcome="done"\} 1/);
    expect(body).toMatch(
      /amanah_provider_request_seconds_count\{method="POST",path="\/payment_requests",status="2\d\d"\} 1/,
    );
  });

  it('The worker’s metrics are served beside its health and readiness', async () => {
    const worker = createHttp(`http://127.0.0.1:${workerPort}`);
    expect((await worker.get('/healthz')).status).toBe(200);
    expect((await worker.get('/readyz')).body.checks).toEqual({
      database: 'ok',
      temporal: 'ok',
      storage: 'ok',
      search_attributes: 'ok',
    });
  });
});

/** Draws the trace as a tree of names. */
function drawTrace(trace: Span[], parent?: string, depth = 0): string {
  const children = trace.filter(({ spanId, parentSpanId }) =>
    parent === undefined
      ? !trace.some((other) => other.spanId === parentSpanId)
      : parentSpanId === parent && spanId !== parent,
  );
  return children
    .map(({ name, spanId, events = [] }) => {
      const line = `${'  '.repeat(depth)}${name}${events.length > 0 ? ` [${events.map((event) => event.name).join(', ')}]` : ''}`;
      return [line, drawTrace(trace, spanId, depth + 1)].filter((text) => text !== '').join('\n');
    })
    .join('\n');
}
