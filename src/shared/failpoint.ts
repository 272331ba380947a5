import { appendFileSync, readFileSync } from 'node:fs';

const actions = ['kill', 'throw', 'delay', 'hold', 'stop'] as const;
type Action = (typeof actions)[number];
const isAction = (text: string | undefined): text is Action => actions.some((action) => action === text);

let armed: ReadonlyMap<string, Action> = new Map();
let file: string | undefined;

function parse(text: string): Map<string, Action> {
  const wanted = new Map<string, Action>();
  for (const entry of text.split(',').filter((part) => part.trim() !== '')) {
    const [name = '', action] = entry.trim().split('=', 2);
    if (!isAction(action)) throw new Error(`FAILPOINTS: ${entry} is not name=action`);
    wanted.set(name, action);
  }
  return wanted;
}

/**
 * Arms the failpoints listed in `FAILPOINTS`: `name=kill|throw|delay|hold|stop`, comma-separated, or `@file` to reread
 * the list from a file at each failpoint (so that a test can arm and disarm a running process). Config rejects it in
 * production.
 */
export function armFailpoints(text: string | undefined): void {
  file = text?.startsWith('@') ? text.slice(1) : undefined;
  armed = text === undefined || file !== undefined ? new Map() : parse(text);
}

function actionAt(name: string): Action | undefined {
  if (file !== undefined) armed = parse(readFileSync(file, 'utf8'));
  return armed.get(name);
}

/**
 * Does nothing unless this failpoint is armed. If it is, kills the process (SIGKILL), throws, waits a second (delay),
 * waits until disarmed (hold), or stops the process (SIGSTOP). With `@file`, each hold adds a line to `file.held`.
 */
export async function failpoint(name: string): Promise<void> {
  switch (actionAt(name)) {
    case undefined:
      return;
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => {});
      return;
    case 'throw':
      throw new Error(`failpoint ${name}`);
    case 'delay':
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return;
    case 'hold':
      if (file !== undefined) appendFileSync(`${file}.held`, `${name}\n`);
      while (actionAt(name) === 'hold') await new Promise((resolve) => setTimeout(resolve, 10));
      return;
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
  }
}
