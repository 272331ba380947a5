/** A reason for which the stack cannot run, told to a person in one sentence and without a stack trace. */
export class StackError extends Error {
  override readonly name = 'StackError';
}
