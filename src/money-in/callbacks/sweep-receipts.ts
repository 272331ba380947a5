import type { EntityManager } from '@mikro-orm/postgresql';
import { either, type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import type { CallbackWorkflows } from '../callbacks/callback-workflows.ts';
import { strayOfReceipt } from '../payments/confirm-payment.ts';
import { Receipt } from '../payments/receipt.entity.ts';

const suspended = `select id, received_at as since from receipts
  where state = 'suspended' and received_at < now() - interval '2 minutes'`;
/**
 * The signal of the decision may have been lost: the receipt's workflow would show the money as suspended for hours.
 */
const settled = `select receipt_id as id, ended_at as since from decisions
  where kind = 'settle_receipt' and status = 'carried_out'
    and ended_at between now() - interval '20 minutes' and now() - interval '1 minute'`;

/**
 * Ensures that every receipt in suspense has a running workflow, which shows it to operators, and that the workflow of
 * a settled one completes. Returns how many receipts it checked.
 */
export function sweepReceipts(em: EntityManager, workflows: CallbackWorkflows, failed: SweepFailure): Promise<number> {
  const wake = async (receiptId: string) => {
    await workflows.openUnmatchedReceipt(strayOfReceipt(await em.fork().findOneOrFail(Receipt, { id: receiptId })));
  };
  return sweepRows(em, [{ kind: 'receipt', due: either(suspended, settled), wake }], failed);
}
