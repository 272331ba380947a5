import type { EntityManager } from '@mikro-orm/postgresql';
import { type SweepFailure, sweepRows } from '../housekeeping/sweep-rows.ts';
import { carryOut } from './carry-out.ts';
import type { DecisionPorts } from './handling.ts';

const due = `select id, created_at as since from decisions where status = 'pending'
  and (created_at < now() - interval '24 hours' or approved_at < now() - interval '1 minute'
    or created_at < now() - interval '1 minute' and (kind = 'explain_difference' or kind = 'settle_payout'
      and outcome_of_word(evidence -> 'provider' ->> 'says') is not null))`;

/**
 * Ends the decisions that are void by now, and carries out those that were approved, or for which one person was enough,
 * and whose API has died since. Returns how many it looked at.
 */
export const sweepDecisions = (em: EntityManager, ports: DecisionPorts, failed: SweepFailure): Promise<number> =>
  sweepRows(em, [{ kind: 'decision', due, longestWaitMinutes: 60, wake: (id) => carryOut(em, ports, id) }], failed);
