import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readJson, writePrivateJson } from './private-file.ts';
import { StackError } from './stack-error.ts';

export interface Lock extends Disposable {
  release(): void;
}

/**
 * Locks a data directory for this process. The lock is SQLite's, and so the kernel's: it is released when the process
 * that holds it exits for any reason, so a lock cannot be stale. Throws StackError when another stack holds it.
 */
export function lockDataDirectory(directory: string): Lock {
  mkdirSync(directory, { recursive: true });
  const holder = join(directory, 'holder.json');
  const database = new DatabaseSync(join(directory, 'stack.lock'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!(Error.isError(error) && /locked/.test(error.message))) throw error;
    throw new StackError(
      `A stack already runs on ${directory}${describeHolder(holder)}: stop it first, or set DATA_DIR to another directory.`,
    );
  }
  writePrivateJson(holder, { pid: process.pid });
  const release = () => {
    if (database.isOpen) database.close();
  };
  return { release, [Symbol.dispose]: release };
}

function describeHolder(file: string): string {
  const content = readJson(file);
  if (typeof content !== 'object' || content === null || !('pid' in content)) return '';
  return ` (process ${String(content.pid)})`;
}
