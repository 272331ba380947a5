import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';

const fullDisk = '/dev/full';
const logModule = join(import.meta.dirname, '..', '..', '..', 'src', 'platform', 'process', 'log.ts');

/** Logs, continues, logs again, and exits. */
const program = `
  import { createLogger } from ${JSON.stringify(logModule)};
  const log = createLogger({ level: 'info', process: 'test' });
  log.info('the first line');
  setTimeout(() => {
    log.info('a later line');
    process.stderr.write('it goes on');
    process.exit(7);
  }, 100);`;

// Other systems have no /dev/full.
const itWhereThereIsOne = existsSync(fullDisk) ? it : it.skip;

itWhereThereIsOne(
  'A process whose log disk is full continues to run, and exits normally',
  async () => {
    const log = openSync(fullDisk, 'w');
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', log, 'pipe'],
    });
    closeSync(log);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const [code, signal] = await once(child, 'exit');
    clearTimeout(late);
    expect({ said, code, signal }).toEqual({ said: 'it goes on', code: 7, signal: null });
  },
  30_000,
);
