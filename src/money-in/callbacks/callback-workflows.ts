import type { EntityManager } from '@mikro-orm/postgresql';
import type { PayoutWorkflows } from '../../money-out/payouts/payout.ts';
import type { Money } from '../../shared/money.ts';
import type { PartnerPaymentWorkflows } from '../collections/partner-payment.ts';
import type { GatewayPaymentWorkflows, ReceiptWorkflows } from '../payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../payments/payment-order.ts';

/** The workflows that callbacks signal: those waiting for the provider, and the one for unmatched money. */
export interface CallbackWorkflows
  extends Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>,
    Pick<PartnerPaymentWorkflows, 'hintPartnerPayment'>,
    Pick<PayoutWorkflows, 'hintPayout'>,
    ReceiptWorkflows {
  hintPartnerInstrument(instrumentId: string): Promise<void>;
}

/** The payment or payout that a reference belongs to. */
export interface ReferenceOwner {
  /** The id in the canonical spelling that the workflow and the provider use. */
  id: string;
  /** Whether the payment or payout is not final yet. */
  isOpen: boolean;
  /** The kind of collection; null for a payout. */
  collection: Collection | null;
  /** Signals the workflow, or restarts it from the row. */
  hint(workflows: CallbackWorkflows): Promise<void>;
}

/** A payment that collects money. */
export interface Collection {
  status: PaymentOrderStatus;
  /** IDR, scale 4: the exact amount due; null if any amount that `takes` allows will do. */
  total: Money | null;
  /** Whether it accepts a payment of this amount. If absent, only `total` is accepted. */
  takes?(amount: Money): Promise<boolean>;
  /** The provider's id of the payment method; null while unknown. */
  providerPaymentMethodId: string | null;
}

/**
 * The owner, open or final, of a reference in any spelling at a provider; null if there is none or it belongs to
 * another provider. Given the time of a payment, a reusable instrument reports whether it was open then, and its hint
 * makes it read payments from that time on. Provided by `src/wiring/`.
 */
export type FindOwner = (
  em: EntityManager,
  at: { provider: string; reference: string; paidAt?: Date | null },
) => Promise<ReferenceOwner | null>;
