import { createRequire } from 'node:module';
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { OpenTelemetrySinks } from '@temporalio/interceptors-opentelemetry/lib/workflow/definitions.js';
import type { InjectedSinks, WorkerInterceptors } from '@temporalio/worker';

const require = createRequire(import.meta.url);

/**
 * The workflow side of tracing. It is in every bundle, whether traces are on or off, so that a history does not depend
 * on a variable: what replays with traces replays without.
 */
export const workflowInterceptorModules = [
  require.resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors.js'),
];

/** Traces of one process (decisions 10): on when `OTEL_EXPORTER_OTLP_ENDPOINT` is set. */
export interface Telemetry {
  /** Whether spans go anywhere. */
  on: boolean;
  /** What a worker needs: activity interceptors, and the sink that takes workflow spans. */
  worker: { interceptors: WorkerInterceptors; sinks: InjectedSinks<OpenTelemetrySinks> };
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

/** Takes the spans of workflows and drops them. */
const nowhere = { exporter: { export: { fn: () => undefined, callDuringReplay: false } } };

/** Starts tracing when an endpoint is configured; without one nothing is made and nothing is sent. */
export function startTelemetry(options: { endpoint: string | undefined; process: string }): Telemetry {
  if (options.endpoint === undefined) {
    return { on: false, worker: { interceptors: {}, sinks: nowhere }, close: async () => undefined };
  }
  const resource = new Resource({ 'service.name': `amanah-${options.process}` });
  const exporter = new OTLPTraceExporter({ url: new URL('/v1/traces', options.endpoint).href });
  const processor: SpanProcessor = new BatchSpanProcessor(exporter);
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    on: true,
    worker: { interceptors: activityInterceptors, sinks: { exporter: makeWorkflowExporter(processor, resource) } },
    close: () => provider.shutdown(),
  };
}
