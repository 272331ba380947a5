import type { Operators } from '../support/decide.ts';
import type { HttpAnswer } from '../support/http.ts';
import type { DecisionFact } from './facts.ts';
import type { Work } from './plan.ts';
import type { Workplace } from './workplace.ts';

const patienceMs = 25_000;

/** Two operators end the oldest case of suspense, as the runbook tells them to; there may be none. */
export async function settleReceipt(
  { topology, apis, decisions, note }: Pick<Workplace, 'topology' | 'apis' | 'decisions' | 'note'>,
  work: Extract<Work, { do: 'operator' }>,
  { operators, accountId }: { operators: Operators; accountId: string },
): Promise<void> {
  const [receipt] = await topology
    .em()
    .execute<{ id: string }[]>("select id from receipts where state = 'suspended' order by received_at, id limit 1");
  if (receipt === undefined) return;
  const call = (path: string, body: object | undefined, { token }: { token: string }) =>
    apis[work.api].post(path, body, { token, signal: AbortSignal.timeout(patienceMs) });
  const proposal = {
    kind: 'settle_receipt',
    receipt_id: receipt.id,
    action: work.action,
    ...(work.action === 'credit' && { account_id: accountId }),
    note: `torture, ${work.id}`,
  };
  const propose = () => call('/v1/decisions', proposal, operators.proposer);
  // Two operators may read the same list, and the one who approves may press the button twice.
  const proposed = await Promise.allSettled(work.twin ? [propose(), propose()] : [propose()]);
  const ids = proposed.flatMap((one) => (one.status === 'fulfilled' ? (one.value.body?.data?.id ?? []) : []));
  const { action } = work;
  const made = ids.map((decisionId): DecisionFact => {
    return {
      decisionId,
      receiptId: receipt.id,
      action,
      accountId: action === 'credit' ? accountId : null,
      answers: [],
    };
  });
  decisions.push(...made);
  const approve = async (decision: DecisionFact): Promise<HttpAnswer> => {
    const answer = await call(`/v1/decisions/${decision.decisionId}/approve`, undefined, operators.approver).catch(
      (error: unknown) => {
        decision.answers.push(null);
        throw error;
      },
    );
    decision.answers.push(answer.body?.data?.status ?? String(answer.status));
    return answer;
  };
  const approved = await Promise.allSettled(
    made.flatMap((decision) => (work.twin ? [approve(decision), approve(decision)] : [approve(decision)])),
  );
  const told = [...proposed, ...approved].map(tell);
  note(`${work.id}: ${work.action} of the receipt ${receipt.id}: ${told.join(', ').slice(0, 300)}`);
}

const tell = (settled: PromiseSettledResult<HttpAnswer>): string =>
  settled.status === 'rejected'
    ? String(settled.reason)
    : `${settled.value.status} ${settled.value.body?.data?.status ?? settled.value.body?.message ?? ''}`;
