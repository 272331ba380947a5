import type { Stack } from './stack.ts';

/** Changes columns that triggers protect, for example to simulate the passage of time. */
export async function withoutTriggers(stack: Pick<Stack, 'owner'>, sql: string, params: unknown[]): Promise<void> {
  await stack.owner().transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    await tx.execute(sql, params);
  });
}
