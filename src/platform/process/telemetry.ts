import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseKeyPairsIntoRecord, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Config } from '../config/config.ts';

/** Traces of one process: on when `OTEL_EXPORTER_OTLP_ENDPOINT` is set and `OTEL_SDK_DISABLED` is not true. */
export interface Telemetry {
  /** Whether spans are exported. */
  on: boolean;
  close(): Promise<void>;
}

/** Starts tracing when an endpoint is configured; without one nothing is created or sent. */
export function startTelemetry(config: Config, process: string): Telemetry {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: name } = config;
  if (endpoint === undefined || config.OTEL_SDK_DISABLED) return { on: false, close: async () => undefined };
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': `amanah-${process}`,
        ...parseKeyPairsIntoRecord(config.OTEL_RESOURCE_ATTRIBUTES),
        ...(name !== undefined && { 'service.name': name }),
      }),
    ),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          // Below the endpoint's own path, as specified.
          url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
          headers: parseKeyPairsIntoRecord(config.OTEL_EXPORTER_OTLP_HEADERS),
        }),
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    on: true,
    async close() {
      await provider.shutdown();
      for (const api of [trace, propagation, context]) api.disable();
    },
  };
}
