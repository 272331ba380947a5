import type { Work } from './plan.ts';
import type { Workplace } from './workplace.ts';

const patienceMs = 15_000;

/** Ends the oldest case of suspense, as the runbook tells an operator to; there may be none. */
export async function settleReceipt(
  { topology, note }: Pick<Workplace, 'topology' | 'note'>,
  work: Extract<Work, { do: 'operator' }>,
  { who, accountId }: { who: string; accountId: string },
): Promise<void> {
  const [receipt] = await topology
    .em()
    .execute<{ id: string }[]>("select id from receipts where state = 'suspended' order by received_at, id limit 1");
  if (receipt === undefined) return;
  const { client } = topology.deps.workflows;
  const settlement = {
    action: work.action,
    ...(work.action === 'credit' && { account_id: accountId }),
    note: `torture, ${work.id}`,
    who,
  };
  const settle = () =>
    client.withDeadline(Date.now() + patienceMs, () =>
      client.workflow
        .getHandle(`unmatched-receipt/${receipt.id}`)
        .executeUpdate('settleReceipt', { args: [settlement] }),
    );
  // Two operators may read the same list.
  const answers = await Promise.allSettled(work.twin ? [settle(), settle()] : [settle()]);
  const told = answers.map((answer) => (answer.status === 'fulfilled' ? String(answer.value) : String(answer.reason)));
  note(`${work.id}: ${work.action} of the receipt ${receipt.id}: ${told.join(' and ').slice(0, 200)}`);
}
