import { isDeepStrictEqual } from 'node:util';
import { explainDifference, lockDifference } from '../../control/reconciliation/explain-difference.ts';
import { Reconciliation } from '../../control/reconciliation/reconciliation.entity.ts';
import type { Evidence } from '../../money-out/decisions/decision.ts';
import type { DecisionHandling } from '../../money-out/decisions/handling.ts';
import { refuse } from '../../shared/errors.ts';

/** Explains a difference with the provider's records. Moves no money, so one operator is enough. */
export const explainingDifference: DecisionHandling<'explain_difference'> = {
  async look(em, _, { reconciliation_id: id }) {
    const difference =
      (await em.findOne(Reconciliation, { id })) ??
      refuse('NOT_FOUND', 'the difference was not found', { field: 'reconciliation_id' });
    if (difference.state === 'resolved') {
      refuse('REQUEST_INVALID', 'the difference is resolved: both sides agree', { field: 'reconciliation_id' });
    }
    return { evidence: evidenceOf(difference), isProven: true };
  },
  ofOne: true,
  hold: (tx, { reconciliation_id }) => lockDifference(tx, reconciliation_id ?? ''),
  async whyMoved(tx, { reconciliation_id, evidence }) {
    const difference = await tx.findOneOrFail(Reconciliation, { id: reconciliation_id ?? '' }, { refresh: true });
    return whyOther(difference, evidence);
  },
  async act(tx, _, decision) {
    await explainDifference(tx, decision, await lockDifference(tx, decision.reconciliation_id ?? ''));
    return undefined;
  },
};

/** Returns a refusal if the difference has changed since the proposal, otherwise null. */
const whyOther = (difference: Reconciliation, evidence: unknown): string | null =>
  isDeepStrictEqual(evidenceOf(difference), evidence) ? null : 'the difference has changed since';

const evidenceOf = ({ day, resource_type, reference, state, ours, theirs }: Reconciliation): Evidence => ({
  provider: theirs ?? null,
  books: { ...ours, state, day, resource_type, reference },
});
