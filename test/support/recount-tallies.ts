import type { Stack } from './stack.ts';
import { withoutTriggers } from './without-triggers.ts';

/** Recomputes the tallies of limits after payouts were inserted or moved in time without triggers. */
export const recountTallies = (stack: Pick<Stack, 'owner'>): Promise<void> =>
  withoutTriggers(
    stack,
    `truncate payout_tallies;
     insert into payout_tallies (owner_id, starts_at, amount, payouts)
       select owner_id, tally_start(created_at), sum(amount), count(*) from limited_payouts group by 1, 2`,
    [],
  );
