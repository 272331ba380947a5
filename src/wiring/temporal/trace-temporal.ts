import { type Attributes, context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { CompleteAsyncError, defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

const tracer = trace.getTracer('amanah/temporal');

/** The name that Temporal's own interceptors use: workflows/carry-trace.ts passes it on, and histories contain it. */
const traceHeader = '_tracer-data';

/** Runs work in a span. Records only an error's name: its message may quote data that must not leave the process. */
async function inSpan<T>(name: string, kind: SpanKind, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  return tracer.startActiveSpan(name, { kind, attributes }, async (span: Span) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CompleteAsyncError)) {
        span.setAttribute('error.type', Error.isError(error) ? error.name : '_OTHER');
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      throw error;
    } finally {
      span.end();
    }
  });
}

/** A span for a call to Temporal, with the headers that propagate it. */
function called<T>(name: string, workflowId: string, call: (carrying: Headers) => Promise<T>): Promise<T> {
  return inSpan(name, SpanKind.CLIENT, { temporalWorkflowId: workflowId }, () => {
    const carrier = {};
    propagation.inject(context.active(), carrier);
    return call({ [traceHeader]: defaultPayloadConverter.toPayload(carrier) });
  });
}

/** Traces the calls that start or wake workflows. */
export const tracedCalls: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    called(`StartWorkflow:${input.workflowType}`, input.options.workflowId, (carrying) =>
      next({ ...input, headers: { ...input.headers, ...carrying } }),
    ),
  signalWithStart: (input, next) =>
    called(`SignalWithStartWorkflow:${input.workflowType}`, input.options.workflowId, (carrying) =>
      next({ ...input, headers: { ...input.headers, ...carrying } }),
    ),
  startUpdateWithStart: (input, next) =>
    called(`UpdateWithStartWorkflow:${input.updateName}`, input.workflowStartOptions.workflowId, (carrying) =>
      next({
        ...input,
        workflowStartHeaders: { ...input.workflowStartHeaders, ...carrying },
        updateHeaders: { ...input.updateHeaders, ...carrying },
      }),
    ),
};

/** Traces each attempt of a step, in the trace of the request that started its workflow. */
export const tracedSteps: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute(input, next) {
      const carried = input.headers[traceHeader];
      const carrier = carried === undefined ? {} : defaultPayloadConverter.fromPayload<object>(carried);
      const attributes = {
        temporalActivityId: info.activityId,
        ...(info.workflowExecution && { temporalWorkflowId: info.workflowExecution.workflowId }),
      };
      return context.with(propagation.extract(context.active(), carrier), () =>
        inSpan(`RunActivity:${info.activityType}`, SpanKind.INTERNAL, attributes, () => next(input)),
      );
    },
  },
});
