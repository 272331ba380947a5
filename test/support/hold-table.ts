import type { Stack } from './stack.ts';

/**
 * Lets nobody write into a table of the stack's database until it is disposed; reading and locking rows go on. Whoever
 * writes waits with the transaction open, and with all that it wrote before.
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
