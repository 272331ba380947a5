import { readFileSync } from 'node:fs';

type Action = 'kill' | 'throw' | 'delay' | 'stop';

let armed: ReadonlyMap<string, Action> = new Map();
let file: string | undefined;

function parse(text: string): Map<string, Action> {
  const actions = new Map<string, Action>();
  for (const entry of text.split(',').filter((part) => part.trim() !== '')) {
    const [name = '', action] = entry.trim().split('=', 2);
    if (action !== 'kill' && action !== 'throw' && action !== 'delay' && action !== 'stop')
      throw new Error(`FAILPOINTS: ${entry} is not name=action`);
    actions.set(name, action);
  }
  return actions;
}

/**
 * Arms the failpoints named in `FAILPOINTS`: `name=kill|throw|delay|stop`, comma separated, or `@file` to reread that
 * list at each point (so that a test can arm and disarm a running process). Config refuses it in production.
 */
export function armFailpoints(text: string | undefined): void {
  file = text?.startsWith('@') ? text.slice(1) : undefined;
  armed = text === undefined || file !== undefined ? new Map() : parse(text);
}

/**
 * Does nothing unless this point is armed: then the process kills itself (SIGKILL), throws, waits a second or stops
 * (SIGSTOP).
 */
export async function failpoint(name: string): Promise<void> {
  if (file !== undefined) armed = parse(readFileSync(file, 'utf8'));
  switch (armed.get(name)) {
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
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
  }
}
