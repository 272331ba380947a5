/**
 * Runs a command-line command and prints its result, if any. Prints an error as one sentence; the exit code is then
 * `failure`, by default 2, unless the command has set its own.
 */
export async function runCommand(usage: string, command: () => Promise<string | null>, failure = 2): Promise<void> {
  try {
    const answer = await command();
    if (answer !== null) process.stdout.write(`${answer}\n`);
  } catch (error) {
    const { name = '', code = '', message = String(error), stack } = error as Partial<Error & { code: string }>;
    const misused = String(code).startsWith('ERR_PARSE_ARGS');
    const expected = misused || name === 'ConfigError' || name === 'DomainError' || name === 'CommandError';
    process.stderr.write(`${expected ? message : (stack ?? message)}\n${misused ? `\n${usage}\n` : ''}`);
    process.exitCode ??= failure;
  }
}

/** An error whose message is all that the person at the terminal needs. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
