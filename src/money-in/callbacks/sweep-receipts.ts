import type { EntityManager } from '@mikro-orm/postgresql';
import { type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import type { CallbackWorkflows } from '../callbacks/callback-workflows.ts';
import { strayOfReceipt } from '../payments/confirm-payment.ts';
import { Receipt } from '../payments/receipt.entity.ts';

const due = `select id, received_at as since from receipts
  where state = 'suspended' and received_at < now() - interval '2 minutes'`;

/**
 * Ensures that every receipt in suspense has a running workflow, which shows it to operators. Returns how many receipts
 * it checked.
 */
export function sweepReceipts(em: EntityManager, workflows: CallbackWorkflows, failed: SweepFailure): Promise<number> {
  const wake = async (receiptId: string) => {
    await workflows.openUnmatchedReceipt(strayOfReceipt(await em.fork().findOneOrFail(Receipt, { id: receiptId })));
  };
  return sweepRows(em, [{ kind: 'receipt', due, wake }], failed);
}
