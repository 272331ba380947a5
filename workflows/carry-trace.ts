import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';

/** The header in which OpenTelemetry's client and activity interceptors put the trace context. */
const traceHeader = '_tracer-data';

/**
 * Passes the trace of the request that started a workflow on to its activities and children, so that one trace leads
 * from the request to the journal. Creates no spans itself: OpenTelemetry in the workflow sandbox would be half of
 * the bundle, and its interceptors would become part of every history.
 * Loaded whether tracing is on or off, so that replay does not depend on configuration.
 */
export function interceptors(): WorkflowInterceptors {
  let trace: Headers = {};
  const withTrace = <Input extends { readonly headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...trace },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const context = input.headers[traceHeader];
          trace = context === undefined ? {} : { [traceHeader]: context };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        startChildWorkflowExecution: (input, next) => next(withTrace(input)),
        continueAsNew: (input, next) => next(withTrace(input)),
      },
    ],
  };
}
