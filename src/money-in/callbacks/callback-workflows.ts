import type { EntityManager } from '@mikro-orm/postgresql';
import type { PayoutWorkflows } from '../../money-out/payouts/payout.ts';
import type { Money } from '../../shared/money.ts';
import type { PartnerPaymentWorkflows } from '../collections/partner-payment.ts';
import type { GatewayPaymentWorkflows, ReceiptWorkflows } from '../payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../payments/payment-order.ts';

/** The workflows that callbacks reach: those that wait for the provider, and the one of unmatched money. */
export interface CallbackWorkflows
  extends Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>,
    Pick<PartnerPaymentWorkflows, 'hintPartnerPayment'>,
    Pick<PayoutWorkflows, 'hintPayout'>,
    ReceiptWorkflows {
  hintPartnerInstrument(instrumentId: string): Promise<void>;
}

/** The payment or payout that a reference belongs to. */
export interface ReferenceOwner {
  /** Its id in the canonical spelling that its workflow and the provider know. */
  id: string;
  /** Whether it still waits for the provider. */
  isOpen: boolean;
  /** What it collects; null for a payout. */
  collection: Collection | null;
  /** Wakes its workflow, or restarts it from the row. */
  hint(workflows: CallbackWorkflows): Promise<void>;
}

/** A payment that money is collected for. */
export interface Collection {
  status: PaymentOrderStatus;
  /** IDR, scale 4: the exact amount that pays it; null where any amount that it `takes` does. */
  total: Money | null;
  /** Whether it takes a payment of this amount; of its total where absent. */
  takes?(amount: Money): Promise<boolean>;
  /** The provider's payment method through which it is paid; null while not known. */
  providerPaymentMethodId: string | null;
}

/**
 * The owner of a reference in any spelling at a provider, open or final; null when there is none: what another provider has
 * under it is nobody's. Told when money was paid, a reusable instrument says whether it was open then, and its hint makes
 * it look back that far. Handed in by `src/wiring/`.
 */
export type FindOwner = (
  em: EntityManager,
  at: { provider: string; reference: string; paidAt?: Date | null },
) => Promise<ReferenceOwner | null>;
