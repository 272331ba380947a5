import { strayOfReceipt } from '../../money-in/payments/confirm-payment.ts';
import { hearPayment } from '../../money-in/payments/hear-payment.ts';
import { Receipt } from '../../money-in/payments/receipt.entity.ts';
import { isTakenBack, requireCreditable, settleReceipt } from '../../money-in/payments/settle-receipt.ts';
import type { DecisionHandling } from '../../money-out/decisions/handling.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';

const field = 'receipt_id';

/** Credits money in suspense to an account, or records that it was refunded at the provider: needs two people. */
export const settlingReceipt: DecisionHandling<'settle_receipt'> = {
  async look(em, gateways, { receipt_id: id, action, account_id }) {
    const receipt = (await em.findOne(Receipt, { id })) ?? refuse('NOT_FOUND', 'the receipt was not found', { field });
    const { state, amount, reason, reference, received_at } = receipt;
    if (state !== 'suspended') refuse('REQUEST_INVALID', `the receipt is ${state}, not suspended`, { field });
    if (action === 'credit') await requireCreditable(em, must(account_id, 'a credit names its account'));
    const says = await hearPayment(gateways, receipt, AbortSignal.timeout(budgets.provider.call));
    if (action === 'credit' && isTakenBack(says)) {
      refuse('REQUEST_INVALID', `the provider says that the payment is ${says}: there is no money to credit`, {
        field: 'action',
      });
    }
    return {
      evidence: {
        provider: { says, payment_id: receipt.provider_payment_id },
        books: { status: state, amount, reason: reason ?? null, reference, received_at: received_at.toISOString() },
      },
      isProven: false,
    };
  },
  async carryOut(em, { gateways, workflows }, { id: decision_id, receipt_id }) {
    const receipt = await em.findOneOrFail(Receipt, { id: receipt_id ?? '' });
    await settleReceipt(em.fork(), gateways, {
      receiptId: receipt.id,
      settlement: { decision_id },
      signal: AbortSignal.timeout(budgets.provider.call),
    });
    await workflows.openUnmatchedReceipt(strayOfReceipt(receipt)).catch(() => undefined);
  },
  async whyMoved(tx, { receipt_id }) {
    const { state } = await tx.findOneOrFail(Receipt, { id: receipt_id ?? '' }, { refresh: true });
    return state === 'suspended' ? null : `the receipt is now ${state}`;
  },
};
