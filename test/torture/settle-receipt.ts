import type { Operators } from '../support/decide.ts';
import type { HttpAnswer } from '../support/http.ts';
import type { Work } from './plan.ts';
import type { Workplace } from './workplace.ts';

const patienceMs = 25_000;

/** Two operators end the oldest case of suspense, as the runbook tells them to; there may be none. */
export async function settleReceipt(
  { topology, note }: Pick<Workplace, 'topology' | 'note'>,
  work: Extract<Work, { do: 'operator' }>,
  { operators, accountId }: { operators: Operators; accountId: string },
): Promise<void> {
  const [receipt] = await topology
    .em()
    .execute<{ id: string }[]>("select id from receipts where state = 'suspended' order by received_at, id limit 1");
  if (receipt === undefined) return;
  const call = (path: string, body: object | undefined, { token }: { token: string }) =>
    topology.api.post(path, body, { token, signal: AbortSignal.timeout(patienceMs) });
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
  const approve = (id: string) => call(`/v1/decisions/${id}/approve`, undefined, operators.approver);
  const approved = await Promise.allSettled(
    ids.flatMap((id) => (work.twin ? [approve(id), approve(id)] : [approve(id)])),
  );
  const told = [...proposed, ...approved].map(tell);
  note(`${work.id}: ${work.action} of the receipt ${receipt.id}: ${told.join(', ').slice(0, 300)}`);
}

const tell = (settled: PromiseSettledResult<HttpAnswer>): string =>
  settled.status === 'rejected'
    ? String(settled.reason)
    : `${settled.value.status} ${settled.value.body?.data?.status ?? settled.value.body?.message ?? ''}`;
