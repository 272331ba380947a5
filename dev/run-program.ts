import { spawn } from 'node:child_process';

export interface ProgramOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  /** Stops the program when it aborts. */
  signal: AbortSignal;
  timeoutMs: number;
  /** Called with each line of error output; returns true for a line that is not an error. */
  onLine?: (line: string) => boolean;
}

/**
 * Runs a program, and stops it when we exit for any reason; resolves to null, or to the last line of its error
 * output.
 */
export function runProgram(program: string, args: string[], options: ProgramOptions): Promise<string | null> {
  const { cwd, env = process.env, signal, timeoutMs, onLine = () => false } = options;
  if (signal.aborted) return Promise.resolve('stopped');
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], timeout: timeoutMs });
  let complaint = '';
  let rest = '';
  const takeLine = (line: string) => {
    if (!onLine(line) && line.trim() !== '') complaint = line.trim();
  };
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) takeLine(line);
  });
  const end = () => child.kill();
  process.once('exit', end);
  signal.addEventListener('abort', end);
  return new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => {
      takeLine(rest);
      resolve(code === 0 ? null : complaint || `code ${code}`);
    });
  }).finally(() => {
    process.off('exit', end);
    signal.removeEventListener('abort', end);
  });
}
