import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { refuse } from '../../shared/errors.ts';
import { Decision } from './decision.entity.ts';
import type { DecisionKind, DecisionStatus } from './decision.ts';

/** The decision with this id. Throws NOT_FOUND. */
export async function getDecision(em: EntityManager, id: string): Promise<Decision> {
  return (await em.findOne(Decision, { id })) ?? refuse('NOT_FOUND', 'the decision was not found', { field: 'id' });
}

/** Operators' decisions, newest first by default; of a payout also the one that releases it. */
export function findDecisions(
  em: EntityManager,
  {
    payout_id,
    ...filters
  }: {
    status?: DecisionStatus | undefined;
    kind?: DecisionKind | undefined;
    payout_id?: string | undefined;
    receipt_id?: string | undefined;
  },
  window: ListWindow,
): Promise<Listed & { items: Decision[] }> {
  const where = Object.fromEntries(Object.entries(filters).filter(([, asked]) => asked !== undefined));
  const about: FilterQuery<Decision>[] =
    payout_id === undefined ? [] : [{ $or: [{ payout_id }, { withdrawal_id: payout_id }] }];
  return findPage(em, Decision, { $and: [where, ...about] }, window, { within: {} });
}
