import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { testRun } from './run.ts';

interface Place {
  deps: { workflows: { taskQueue: string } };
}

function inItsBooks<T>({ deps }: Place, work: (file: DatabaseSync) => T): T {
  const file = new DatabaseSync(join(testRun().directory, 'sandbox', deps.workflows.taskQueue, 'sandbox.db'));
  try {
    file.exec('pragma busy_timeout = 5000');
    return work(file);
  } finally {
    file.close();
  }
}

/** Changes one row of the sandbox's records, as only the provider can. */
export function atProvider(stack: Place, sql: string, params: readonly string[]): void {
  expect(inItsBooks(stack, (file) => file.prepare(sql).run(...params).changes)).toBe(1);
}

/** The sandbox's records, one JSON text for each row. */
export const readAtProvider = (stack: Place, sql: string, params: readonly string[]): string[] =>
  inItsBooks(stack, (file) => file.prepare(sql).all(...params)).map((row) => JSON.stringify(row));
