import { eventually } from './eventually.ts';
import type { Stack } from './stack.ts';

/** The statements containing this text that wait for a lock in the stack's database: their pid and start. */
export function readLockWaits(stack: Pick<Stack, 'em'>, text = ''): Promise<{ pid: number; since: string }[]> {
  return stack.em().execute<{ pid: number; since: string }[]>(
    `select pid, query_start::text as since from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid() and query like ?`,
    [`%${text}%`],
  );
}

/** Waits until this many statements with this text are waiting for a lock. */
export const untilLocked = (stack: Pick<Stack, 'em'>, { count = 1, text = '' } = {}) =>
  eventually(
    () => readLockWaits(stack, text),
    (waits) => waits.length >= count,
  );
