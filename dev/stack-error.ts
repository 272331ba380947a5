/** A reason why the stack cannot run, shown as one sentence without a stack trace. */
export class StackError extends Error {
  override readonly name = 'StackError';
}
