import type { EntityManager } from '@mikro-orm/postgresql';
import { hasSecondFactor } from '../../people/identity/second-factor.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { isDomainError, refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { newId } from '../../shared/ids.ts';
import { carryOut, endDecision, judgingAgain, lockDecision, requireOperator, tellOfEnd, whyVoid } from './carry-out.ts';
import { Decision } from './decision.entity.ts';
import type { ProposedKind } from './decision.ts';
import { getDecision } from './find-decisions.ts';
import type { DecisionHandling, DecisionPorts } from './handling.ts';
import type { ProposalOf } from './present-decision.ts';

interface Proposing {
  caller: Caller;
  proposal: ProposalOf<ProposedKind>;
  note: string;
  requestId: string;
}

/**
 * Proposes a decision for another operator to approve, with the current evidence. If one person is enough, tries to
 * carry it out at once. Returns its state. Throws as the kind's `look` does, and if the caller lost the
 * permission or session while the provider was asked.
 */
export async function proposeDecision(
  em: EntityManager,
  ports: DecisionPorts,
  { caller, proposal, note, requestId }: Proposing,
): Promise<Decision> {
  const handling: DecisionHandling<ProposedKind> = ports.decisionKinds[proposal.kind];
  const { evidence, isProven } = await handling.look(em.fork(), ports.gateways, proposal, caller.userId);
  const id = newId();
  const facts = { id, ...proposal, note, evidence: JSON.stringify(evidence), proposed_by: caller.userId };
  const columns = Object.keys(facts);
  await em.fork().transactional(async (tx) => {
    // Check again, because asking the provider took time.
    await requireOperator(tx, caller, 'propose-decision');
    await tx.execute(
      `insert into decisions (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      Object.values(facts).map((value) => value ?? null),
    );
    const by = { actorId: caller.userId, requestId };
    await recordAction(tx, by, ['DECISION_PROPOSED', 'HIGH'], ['decision', id], { ...proposal, note });
  });
  try {
    if (isProven) return await carryOut(em, ports, id);
  } catch (error) {
    // The proposal remains in any case.
    if (!isDomainError(error)) throw error;
  }
  return getDecision(em.fork(), id);
}

interface Deciding {
  caller: Caller;
  decisionId: string;
  /** Whether the caller must have logged in with a second factor. */
  needsSecondFactor?: boolean;
  requestId: string;
}

/**
 * Approves another operator's proposal and carries it out exactly once; the sweep does so if this process dies. A
 * disbursement needs two approvals and stays pending after the first. Returns the closed decision: carried out,
 * `refused` by the subject's own checks, or `lapsed`. Throws NOT_FOUND; FORBIDDEN if the caller proposed it, invited a
 * proposer who was not admitted, was not admitted or has no second factor; UNAUTHENTICATED if the session has ended;
 * REQUEST_INVALID if the decision is closed; SERVICE_UNAVAILABLE if it is approved but not carried out yet.
 */
export async function approveDecision(
  em: EntityManager,
  ports: DecisionPorts,
  deciding: Deciding & { needsSecondFactor: boolean },
): Promise<Decision> {
  const { decisionId: id } = deciding;
  const decision = await decide(em, ports, deciding, async (tx, pending) => {
    if (pending.approved_by) return;
    const { userId } = deciding.caller;
    const [row] = await tx.execute<{ why: string | null }[]>('select why_not_approving(?, ?, ?, ?) as why', [
      pending.kind,
      pending.user_id ?? null,
      pending.proposed_by,
      userId,
    ]);
    if (row?.why) refuse('FORBIDDEN', row.why, { field: 'id' });
    if (pending.first_approved_by === userId) {
      refuse('FORBIDDEN', 'someone else must give the second approval', { field: 'id' });
    }
    if (pending.kind === 'disburse' && !pending.first_approved_by) pending.first_approved_by = userId;
    else pending.approved_by = userId;
    await tx.flush();
    const by = { actorId: userId, requestId: deciding.requestId };
    await recordAction(tx, by, ['DECISION_APPROVED', 'HIGH'], ['decision', id], { kind: pending.kind });
    // An approver's first approval is a separate event, which raises an alarm.
    const isFirst = await tx.execute<unknown[]>(
      'update users set first_approval_at = clock_timestamp() where id = ? and first_approval_at is null returning 1',
      [userId],
    );
    if (isFirst.length === 0) return;
    await recordAction(tx, by, ['APPROVER_FIRST_APPROVED', 'HIGH'], ['user', userId], { decision_id: id });
  });
  await failpoint('approve-decision.approved');
  if (decision.status !== 'pending' || !decision.approved_by) return tellOfEnd(em, ports, decision);
  const ended = await carryOut(em, ports, id);
  if (ended.status !== 'pending') return ended;
  const complaint = 'The decision is approved but not carried out yet: read it later, or approve it again';
  return refuse('SERVICE_UNAVAILABLE', complaint, { retryAfterSeconds: 5 });
}

/** Rejects another operator's proposal; needs no second factor. Returns and throws as `approveDecision` does. */
export async function rejectDecision(em: EntityManager, ports: DecisionPorts, deciding: Deciding): Promise<Decision> {
  const { caller, requestId } = deciding;
  const decision = await decide(em, ports, deciding, (tx, pending) =>
    endDecision(tx, pending, { status: 'rejected', actorId: caller.userId, requestId }),
  );
  return tellOfEnd(em, ports, decision);
}

/** Runs a second person's action on a pending decision under its lock; a decision that is now void lapses instead. */
async function decide(
  em: EntityManager,
  ports: DecisionPorts,
  { caller, decisionId, needsSecondFactor, requestId }: Deciding,
  step: (tx: EntityManager, pending: Decision) => Promise<void>,
): Promise<Decision> {
  const judge = async (tx: EntityManager) => {
    const decision = await lockDecision(tx, decisionId);
    if (decision.proposed_by === caller.userId) {
      refuse('FORBIDDEN', 'someone other than the proposer must approve', { field: 'id' });
    }
    // A concurrent request may have held the lock: permission and session may have ended by now.
    await requireOperator(tx, caller, 'approve-decision');
    if (needsSecondFactor && !(await hasSecondFactor(tx, caller))) {
      refuse('FORBIDDEN', 'Log in with a second factor (POST /v1/auth/totp) to approve');
    }
    if (decision.status !== 'pending') {
      refuse('REQUEST_INVALID', `the decision is ${decision.status}, not pending`, { field: 'id' });
    }
    const why = await whyVoid(tx, ports, decision);
    if (why === null) await step(tx, decision);
    else await endDecision(tx, decision, { status: 'lapsed', reason: why, actorId: caller.userId, requestId });
  };
  await judgingAgain(() => em.fork().transactional(judge));
  return em.fork().findOneOrFail(Decision, { id: decisionId });
}
