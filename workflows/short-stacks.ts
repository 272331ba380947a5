/**
 * How many frames of its stack an error in a workflow keeps: where it was thrown, and what called that. The SDK makes an
 * error for each promise of a workflow, only for the stack that a query may ask for; with V8's ten frames this took 28%
 * of the CPU time of the thread that runs workflows. To see more of a stack, replay the history with a higher limit.
 */
Error.stackTraceLimit = 2;
