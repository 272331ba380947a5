/**
 * Stack frames of an error in a workflow: where it was thrown, and its caller. The SDK creates an error for each
 * promise of a workflow, only to answer stack queries; with V8's ten frames this took 28% of the CPU time of the thread
 * that runs workflows. To see more of a stack, replay the history with a higher limit.
 */
Error.stackTraceLimit = 2;
