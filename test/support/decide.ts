import type { Evidence } from '../../src/money-out/decisions/decision.ts';
import { findSecondFactor, makeSecret, placeOfSecret } from '../../src/people/identity/second-factor.ts';
import { newId } from '../../src/shared/ids.ts';
import { type BuildPlace, type BuiltUser, buildPlatformAdmin, buildSuperAdmin } from './build.ts';
import type { Http } from './http.ts';

export interface Operators {
  /** A platform admin, who may propose. */
  proposer: BuiltUser;
  /** A super admin who logged in with a second factor. */
  approver: BuiltUser;
}

/** Creates a proposer and an approver. */
export async function buildOperators(place: BuildPlace): Promise<Operators> {
  const [proposer, approver] = await Promise.all([buildPlatformAdmin(place), buildSuperAdmin(place)]);
  const token = await secureSession(place, approver.id);
  return { proposer, approver: { ...approver, token } };
}

/** Gives a platform user a second factor; returns the token of a session that logged in with it. */
export async function secureSession(place: BuildPlace, userId: string): Promise<string> {
  const secret = await place.deps.sealer.seal(placeOfSecret(userId), makeSecret('Amanah', userId).secret);
  const factor = 'insert into second_factors (id, secret_sealed, confirmed_at) values (?, ?, now())';
  await place.em().execute(factor, [userId, secret]);
  const secondFactor = (await findSecondFactor(place.em(), userId))?.mark ?? null;
  const subject = { userId, userType: 'platform' as const, organizationId: null, secondFactor };
  return (await place.deps.tokens.sign(subject)).token;
}

export const evidenceNote = 'ticket 4711, bank statement of the day';

/** Proposes over HTTP as one operator; returns the answer. */
export const propose = (http: Pick<Http, 'post'>, { proposer }: Operators, proposal: object) =>
  http.post('/v1/decisions', { note: evidenceNote, ...proposal }, { token: proposer.token });

/** Approves over HTTP as the other operator; returns the answer. */
export const approve = (http: Pick<Http, 'post'>, { approver }: Operators, id: string) =>
  http.post(`/v1/decisions/${id}/approve`, undefined, { token: approver.token });

/**
 * Proposes a decision as one operator and approves it as another; returns the outcome, or throws if either is refused.
 */
export async function decide(
  http: Pick<Http, 'post'>,
  operators: Operators,
  proposal: object,
): Promise<{ id: string; status: string; reason: string | null }> {
  const proposed = await propose(http, operators, proposal);
  if (proposed.status !== 201) throw new Error(`not proposed: ${JSON.stringify(proposed.body)}`);
  const { id } = proposed.body.data;
  const approved = await approve(http, operators, id);
  if (approved.status !== 200) throw new Error(`not approved: ${JSON.stringify(approved.body)}`);
  return approved.body.data;
}

/** Inserts a decision, approved by default, for steps that run without the API. */
export async function plantDecision(
  place: BuildPlace,
  { proposer, approver }: Operators,
  facts: Record<string, unknown> & { kind: string; evidence?: Evidence; approved?: boolean },
): Promise<string> {
  const { approved = true, evidence = { provider: null, books: {} }, ...proposal } = facts;
  const row = {
    id: newId(),
    note: evidenceNote,
    ...proposal,
    evidence: JSON.stringify(evidence),
    proposed_by: proposer.id,
  };
  const em = place.em();
  await em.execute(
    `insert into decisions (${Object.keys(row).join(', ')}) values (${Object.keys(row)
      .map(() => '?')
      .join(', ')})`,
    Object.values(row),
  );
  if (approved) await em.execute('update decisions set approved_by = ? where id = ?', [approver.id, row.id]);
  return row.id;
}
