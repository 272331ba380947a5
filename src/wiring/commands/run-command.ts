/**
 * Runs a command that people type: prints its result, if any; an error is one sentence and the exit code `failure`, by
 * default 2, unless the command has already set its own.
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

/** A sentence for the person at the terminal. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
