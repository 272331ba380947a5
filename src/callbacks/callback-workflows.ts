import type { PartnerPaymentWorkflows } from '../collections/partner-payment.ts';
import type { GatewayPaymentWorkflows, ReceiptWorkflows } from '../payments/payment-contract.ts';
import type { PayoutWorkflows } from '../payouts/payout.ts';

/** The workflows that hear of what the provider said: those that wait for it, and that of money that nobody waits for. */
export interface CallbackWorkflows
  extends Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>,
    Pick<PartnerPaymentWorkflows, 'hintPartnerPayment'>,
    Pick<PayoutWorkflows, 'hintPayout'>,
    ReceiptWorkflows {}
