import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { WorkerInterceptors } from '@temporalio/worker';

/** Traces of one process: on when `OTEL_EXPORTER_OTLP_ENDPOINT` is set. */
export interface Telemetry {
  /** Whether spans are exported. */
  on: boolean;
  /** Makes a span for each activity of a worker. */
  activityInterceptors: WorkerInterceptors;
  close(): Promise<void>;
}

const activityInterceptors: WorkerInterceptors = {
  activity: [
    (ctx) => ({
      inbound: new OpenTelemetryActivityInboundInterceptor(ctx),
      outbound: new OpenTelemetryActivityOutboundInterceptor(ctx),
    }),
  ],
};

/** Starts tracing when an endpoint is configured; without one nothing is created or sent. */
export function startTelemetry(options: { endpoint: string | undefined; process: string }): Telemetry {
  if (options.endpoint === undefined) {
    return { on: false, activityInterceptors: {}, close: async () => undefined };
  }
  const resource = new Resource({ 'service.name': `amanah-${options.process}` });
  const exporter = new OTLPTraceExporter({ url: new URL('/v1/traces', options.endpoint).href });
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    on: true,
    activityInterceptors,
    async close() {
      await provider.shutdown();
      for (const api of [trace, propagation, context]) api.disable();
    },
  };
}
