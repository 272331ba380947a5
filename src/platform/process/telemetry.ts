import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseKeyPairsIntoRecord, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Config } from '../config/config.ts';

/** Traces of one process: on when an endpoint is set and no variable turns them off. */
export interface Telemetry {
  /** Whether spans are exported. */
  on: boolean;
  close(): Promise<void>;
}

/**
 * Returns the endpoint for traces: the one set for traces alone, unchanged, or else `/v1/traces` below the general one.
 */
function endpointOf(config: Config): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces, OTEL_EXPORTER_OTLP_ENDPOINT: ofAll } = config;
  return ofTraces ?? (ofAll && `${ofAll.replace(/\/$/, '')}/v1/traces`);
}

function exporterOf(config: Config): typeof JsonExporter | typeof ProtobufExporter {
  const protocol = config.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? config.OTEL_EXPORTER_OTLP_PROTOCOL;
  return protocol === 'http/json' ? JsonExporter : ProtobufExporter;
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Config): Sampler {
  const [, isByParent, kind] = /^(parentbased_)?(.*)$/.exec(name) ?? [];
  const root =
    kind === 'always_off'
      ? new AlwaysOffSampler()
      : kind === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return isByParent ? new ParentBasedSampler({ root }) : root;
}

/** Starts tracing when an endpoint is configured; without one nothing is created or sent. */
export function startTelemetry(config: Config, process: string): Telemetry {
  const { OTEL_SERVICE_NAME: name } = config;
  const url = endpointOf(config);
  const isOff = config.OTEL_SDK_DISABLED || config.OTEL_TRACES_EXPORTER === 'none';
  if (url === undefined || isOff) return { on: false, close: async () => undefined };
  const Exporter = exporterOf(config);
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': `amanah-${process}`,
        ...parseKeyPairsIntoRecord(config.OTEL_RESOURCE_ATTRIBUTES),
        ...(name !== undefined && { 'service.name': name }),
      }),
    ),
    sampler: samplerOf(config),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new Exporter({
          url,
          headers: {
            ...parseKeyPairsIntoRecord(config.OTEL_EXPORTER_OTLP_HEADERS),
            ...parseKeyPairsIntoRecord(config.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
          },
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
