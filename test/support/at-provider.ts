import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { testRun } from './run.ts';

/** Changes one row of the provider's books, as only the provider could. */
export function atProvider(
  stack: { deps: { workflows: { taskQueue: string } } },
  sql: string,
  params: readonly string[],
): void {
  const directory = join(testRun().directory, 'sandbox', stack.deps.workflows.taskQueue);
  const file = new DatabaseSync(join(directory, 'sandbox.db'));
  try {
    file.exec('pragma busy_timeout = 5000');
    expect(file.prepare(sql).run(...params).changes).toBe(1);
  } finally {
    file.close();
  }
}
