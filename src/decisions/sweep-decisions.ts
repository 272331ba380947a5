import type { EntityManager } from '@mikro-orm/postgresql';
import { type SweepFailure, sweepRows } from '../housekeeping/sweep-rows.ts';
import { endDecision, isTooOld, lockDecision, tooOld } from './end-decision.ts';
import type { DecisionPorts } from './handling.ts';
import { handlings } from './handlings.ts';

const due = `select id, created_at as since from decisions where status = 'pending'
  and (created_at < now() - interval '24 hours' or approved_at < now() - interval '1 minute')`;

/**
 * Ends the decisions that are too old, and carries out those that were approved and whose API has died since. Returns how
 * many it looked at.
 */
export function sweepDecisions(em: EntityManager, ports: DecisionPorts, failed: SweepFailure): Promise<number> {
  const wake = async (id: string) => {
    const decision = await em.fork().transactional(async (tx) => {
      const pending = await lockDecision(tx, id);
      if (pending.status === 'pending' && (await isTooOld(tx, pending))) {
        await endDecision(tx, pending, { status: 'lapsed', reason: tooOld, actorId: null });
      }
      return pending;
    });
    if (decision.status === 'pending') await handlings[decision.kind].carryOut(em, ports, decision);
  };
  return sweepRows(em, [{ kind: 'decision', due, wake }], failed);
}
