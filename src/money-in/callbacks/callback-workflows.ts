import type { PayoutWorkflows } from '../../money-out/payouts/payout.ts';
import type { PartnerPaymentWorkflows } from '../collections/partner-payment.ts';
import type { PartnerInstrumentWorkflows } from '../partner-instruments/partner-instrument.ts';
import type { GatewayPaymentWorkflows, ReceiptWorkflows } from '../payments/payment-contract.ts';

/** The workflows that callbacks reach: those that wait for the provider, and the one of unmatched money. */
export interface CallbackWorkflows
  extends Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>,
    Pick<PartnerPaymentWorkflows, 'hintPartnerPayment'>,
    Pick<PartnerInstrumentWorkflows, 'hintPartnerInstrument'>,
    Pick<PayoutWorkflows, 'hintPayout'>,
    ReceiptWorkflows {}
