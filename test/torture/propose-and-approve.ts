import type { BuiltUser } from '../support/build.ts';
import type { HttpAnswer } from '../support/http.ts';
import type { Deciders } from './cast.ts';
import type { Decided, ToldFact } from './decision-facts.ts';
import type { Work } from './plan-work.ts';
import type { Workplace } from './workplace.ts';

const patienceMs = 25_000;

/**
 * Proposes as one operator and approves as another; the proposer may try to approve, too, and both may click twice,
 * which may create two decisions. Calls `remember` with each decision before its approval, and adds the answer to each
 * approval to its `approvals`.
 */
export async function proposeAndApprove(
  { apis, note }: Pick<Workplace, 'apis' | 'note'>,
  work: Pick<Work, 'id' | 'api' | 'twin'>,
  {
    operators,
    proposal,
    says,
    remember,
  }: { operators: Deciders; proposal: object; says: string; remember(decided: Decided): void },
): Promise<void> {
  const call = (path: string, body: object | undefined, { token }: { token: string }) =>
    apis[work.api].post(path, body, { token, signal: AbortSignal.timeout(patienceMs) });
  // In every second piece of work the proposer is an approver, who tries to approve at the same moment as another.
  const wantsBoth = Number(work.id.replaceAll(/\D/g, '')) % 2 === 0;
  const { proposer, approver } = wantsBoth ? { proposer: operators.approver, approver: operators.other } : operators;
  const propose = () => call('/v1/decisions', { ...proposal, note: `torture, ${work.id}` }, proposer);
  const proposed = await Promise.allSettled(work.twin ? [propose(), propose()] : [propose()]);
  const ids: string[] = proposed.flatMap((one) => (one.status === 'fulfilled' ? (one.value.body?.data?.id ?? []) : []));
  const made = ids.map((decisionId): Decided => ({ decisionId, proposedBy: proposer.id, approvals: [] }));
  for (const decided of made) remember(decided);
  const approve = async ({ decisionId, approvals }: Decided, by: BuiltUser): Promise<HttpAnswer> => {
    const approval: ToldFact = { by: by.id, status: null, told: null };
    approvals.push(approval);
    const answer = await call(`/v1/decisions/${decisionId}/approve`, undefined, by);
    Object.assign(approval, toldBy(answer));
    return answer;
  };
  const people = [...(wantsBoth ? [proposer] : []), approver, ...(work.twin ? [approver] : [])];
  const approved = await Promise.allSettled(made.flatMap((decided) => people.map((by) => approve(decided, by))));
  note(`${work.id}: ${says}: ${[...proposed, ...approved].map(tell).join(', ').slice(0, 300)}`);
}

/** An answer about a decision: its status and the decision's. */
export const toldBy = ({ status, body }: HttpAnswer): Pick<ToldFact, 'status' | 'told'> => ({
  status,
  told: body?.data?.status ?? String(status),
});

const tell = (settled: PromiseSettledResult<HttpAnswer>): string =>
  settled.status === 'rejected'
    ? String(settled.reason)
    : `${settled.value.status} ${settled.value.body?.data?.status ?? settled.value.body?.message ?? ''}`;
