import { hearPayment } from '../payments/hear-payment.ts';
import { Receipt } from '../payments/receipt.entity.ts';
import { isTakenBack, requireCreditable } from '../payments/settle-receipt.ts';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { refuse } from '../shared/errors.ts';
import type { DecisionHandling } from './handling.ts';

const field = 'receipt_id';

/** Credits money in suspense to an account, or records that it was refunded at the provider: needs two people. */
export const settlingReceipt: DecisionHandling<'settle_receipt'> = {
  async look(em, gateway, { receipt_id: id, action, account_id }) {
    const receipt = (await em.findOne(Receipt, { id })) ?? refuse('NOT_FOUND', 'there is no such receipt', { field });
    const { state, amount, reason, reference, received_at } = receipt;
    if (state !== 'suspended') refuse('REQUEST_INVALID', `the receipt is ${state}, not suspended`, { field });
    if (action === 'credit') await requireCreditable(em, must(account_id, 'a credit names its account'));
    const says = await hearPayment(gateway, receipt, AbortSignal.timeout(budgets.provider.call));
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
  async carryOut(em, { workflows }, { id, receipt_id, approved_by }, hand) {
    const receipt = await em.fork().findOneOrFail(Receipt, { id: receipt_id ?? '' });
    const stray = {
      receiptId: receipt.id,
      providerPaymentId: receipt.provider_payment_id,
      providerPaymentMethodId: receipt.provider_payment_method_id,
    };
    return workflows.decideReceipt(stray, { id, isApproved: Boolean(approved_by), ...hand }, budgets.requests.decision);
  },
  async whyMoved(tx, { receipt_id }) {
    const { state } = await tx.findOneOrFail(Receipt, { id: receipt_id ?? '' }, { refresh: true });
    return state === 'suspended' ? null : `the receipt is now ${state}`;
  },
};
