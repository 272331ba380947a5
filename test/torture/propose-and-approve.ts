import type { Operators } from '../support/decide.ts';
import type { HttpAnswer } from '../support/http.ts';
import type { Decided } from './facts.ts';
import type { Work } from './plan-work.ts';
import type { Workplace } from './workplace.ts';

const patienceMs = 25_000;

/**
 * One operator proposes and another approves; both may press the button twice, and then there may be two decisions.
 * `remember` is told of each decision before it is approved, and sees what each approval was told in its `answers`.
 */
export async function proposeAndApprove(
  { apis, note }: Pick<Workplace, 'apis' | 'note'>,
  work: Pick<Work, 'id' | 'api' | 'twin'>,
  {
    operators,
    proposal,
    says,
    remember,
  }: { operators: Operators; proposal: object; says: string; remember(decided: Decided): void },
): Promise<void> {
  const call = (path: string, body: object | undefined, { token }: { token: string }) =>
    apis[work.api].post(path, body, { token, signal: AbortSignal.timeout(patienceMs) });
  const propose = () => call('/v1/decisions', { ...proposal, note: `torture, ${work.id}` }, operators.proposer);
  const proposed = await Promise.allSettled(work.twin ? [propose(), propose()] : [propose()]);
  const ids: string[] = proposed.flatMap((one) => (one.status === 'fulfilled' ? (one.value.body?.data?.id ?? []) : []));
  const made = ids.map((decisionId): Decided => ({ decisionId, answers: [] }));
  for (const decided of made) remember(decided);
  const approve = async ({ decisionId, answers }: Decided): Promise<HttpAnswer> => {
    const answer = await call(`/v1/decisions/${decisionId}/approve`, undefined, operators.approver).catch(
      (error: unknown) => {
        answers.push(null);
        throw error;
      },
    );
    answers.push(answer.body?.data?.status ?? String(answer.status));
    return answer;
  };
  const approved = await Promise.allSettled(
    made.flatMap((decided) => (work.twin ? [approve(decided), approve(decided)] : [approve(decided)])),
  );
  note(`${work.id}: ${says}: ${[...proposed, ...approved].map(tell).join(', ').slice(0, 300)}`);
}

const tell = (settled: PromiseSettledResult<HttpAnswer>): string =>
  settled.status === 'rejected'
    ? String(settled.reason)
    : `${settled.value.status} ${settled.value.body?.data?.status ?? settled.value.body?.message ?? ''}`;
