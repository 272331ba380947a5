import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';

/** The header in which the client's and the activities' interceptors of OpenTelemetry keep the trace context. */
const traceHeader = '_tracer-data';

/**
 * Carries the trace of the request that started a workflow on to its activities and children, so that one trace leads
 * from the request to the journal. It makes no spans of its own: OpenTelemetry inside the workflow sandbox would be half
 * of the bundle, which is evaluated anew for every workflow, and its interceptors would become part of every history.
 * Loaded whether traces are on or off, so that replay does not depend on a variable.
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
