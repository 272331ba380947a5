import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trace } from '@opentelemetry/api';
import { readConfig } from '../../../src/platform/config/config.ts';
import { startTelemetry } from '../../../src/platform/process/telemetry.ts';
import { createSecrets, testEnvironment } from '../../support/environment.ts';

const requests: { path: string | undefined; headers: IncomingHttpHeaders }[] = [];
let collector: Server;
let address: string;
beforeAll(async () => {
  collector = createServer((request, response) => {
    requests.push({ path: request.url, headers: request.headers });
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  address = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
beforeEach(() => requests.splice(0));
afterAll(() => {
  collector.closeAllConnections();
  collector.close();
});

const here = {
  databaseUrl: 'postgresql://a:b@127.0.0.1/a',
  temporalAddress: '127.0.0.1:1',
  url: 'http://127.0.0.1:1',
  sandboxUrl: 'http://127.0.0.1:1',
};
const configOf = (env: Record<string, string>) => readConfig({ ...testEnvironment(here, createSecrets()), ...env });

/** Creates one span under these variables, and returns whether it was exported. */
async function traceOnce(env: Record<string, string>): Promise<boolean> {
  const telemetry = startTelemetry(configOf(env), 'api');
  trace.getTracer('test').startSpan('one').end();
  await telemetry.close();
  return requests.length > 0;
}

describe('The variables of OpenTelemetry', () => {
  it('The endpoint and headers for traces take precedence over those for every signal, and the endpoint stays as it is', async () => {
    await traceOnce({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${address}/all`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=of-all,x-other=1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${address}/traces/only`,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-token=of-traces',
    });
    expect(requests).toMatchObject([{ path: '/traces/only', headers: { 'x-token': 'of-traces', 'x-other': '1' } }]);
  });

  it('OTEL_TRACES_EXPORTER=none turns tracing off', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address };
    expect(await traceOnce({ ...env, OTEL_TRACES_EXPORTER: 'none' })).toBe(false);
    expect(await traceOnce({ ...env, OTEL_TRACES_EXPORTER: 'otlp' })).toBe(true);
  });

  it('Spans are sent as Protobuf unless a variable asks for JSON, and the one for traces takes precedence', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address };
    const ofAll = { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
    await traceOnce(env);
    await traceOnce(ofAll);
    await traceOnce({ ...ofAll, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' });
    const [protobuf, json] = ['application/x-protobuf', 'application/json'];
    expect(requests.map(({ headers }) => headers['content-type'])).toEqual([protobuf, json, protobuf]);
  });

  it('An endpoint for traces alone turns tracing on', async () => {
    expect(await traceOnce({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${address}/v1/traces` })).toBe(true);
  });

  it.each<[string, string, boolean]>([
    ['always_on', '', true],
    ['always_off', '', false],
    ['traceidratio', '0', false],
    ['traceidratio', '', true],
    ['parentbased_always_on', '', true],
    ['parentbased_always_off', '', false],
    ['parentbased_traceidratio', '0.0', false],
    ['parentbased_traceidratio', '1', true],
    ['', '', true],
  ])(
    'The sampler %j with argument %j decides about spans without a parent: %j',
    async (sampler, argument, exported) => {
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: address,
        OTEL_TRACES_SAMPLER: sampler,
        OTEL_TRACES_SAMPLER_ARG: argument,
      };
      expect(await traceOnce(env)).toBe(exported);
    },
  );

  it.each<[string, string]>([
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ])('The configuration rejects %s=%s instead of ignoring it', (name, value) => {
    expect(() => configOf({ [name]: value })).toThrow(`${name} is malformed`);
  });
});
