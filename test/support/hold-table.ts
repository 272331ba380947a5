import type { Stack } from './stack.ts';

/**
 * Blocks writes to a table of the stack's database until the result is disposed; reads and row locks continue. Writers
 * wait with their transaction open, so everything it wrote before stays uncommitted.
 */
export async function holdTable(stack: Pick<Stack, 'owner'>, table: string): Promise<AsyncDisposable> {
  const em = stack.owner();
  await em.begin();
  await em.execute('set local transaction_timeout = 0');
  await em.execute('set local idle_in_transaction_session_timeout = 0');
  await em.execute(`lock table ${table} in share mode`);
  let held = true;
  return {
    async [Symbol.asyncDispose]() {
      if (held) await em.rollback();
      held = false;
    },
  };
}
