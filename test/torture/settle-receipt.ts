import type { Deciders } from './cast.ts';
import type { Work } from './plan-work.ts';
import { proposeAndApprove } from './propose-and-approve.ts';
import type { Workplace } from './workplace.ts';

/** Settles the oldest suspense case, if any, as two operators, as in the runbook. */
export async function settleReceipt(
  place: Pick<Workplace, 'topology' | 'apis' | 'decisions' | 'note'>,
  work: Extract<Work, { do: 'operator' }>,
  { operators, accountId: credited }: { operators: Deciders; accountId: string },
): Promise<void> {
  const [receipt] = await place.topology
    .em()
    .execute<{ id: string }[]>("select id from receipts where state = 'suspended' order by received_at, id limit 1");
  if (receipt === undefined) return;
  const { action } = work;
  const accountId = action === 'credit' ? credited : null;
  await proposeAndApprove(place, work, {
    operators,
    proposal: {
      kind: 'settle_receipt',
      receipt_id: receipt.id,
      action,
      ...(accountId !== null && { account_id: accountId }),
    },
    says: `${action} of the receipt ${receipt.id}`,
    remember: (decided) => place.decisions.push({ ...decided, receiptId: receipt.id, action, accountId }),
  });
}
