import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateway } from '../gateway/gateway.ts';
import type { ReceiptDecisions } from '../payments/payment-contract.ts';
import type { PayoutWorkflows } from '../payouts/payout.ts';
import type { Decision } from './decision.entity.ts';
import type { DecisionInHand, Evidence, ProposalOf, ProposedKind } from './decision.ts';

/** What decisions need besides the database. */
export interface DecisionPorts {
  gateway: Gateway;
  workflows: Pick<PayoutWorkflows, 'decidePayout' | 'hintPayout'> & ReceiptDecisions;
}

/** What was found when something was proposed. */
export interface Look {
  evidence: Evidence;
  /** One person is enough: the provider's final word proves it, or nothing is moved by it. */
  isProven: boolean;
}

/** How a decision is handed over. */
export type Hand = Pick<DecisionInHand, 'isAnew'>;

/** How one kind of decision is carried out. */
export interface CarryingOut {
  /**
   * Carries out a decision that is approved, or that one person may make, and ends it; one that neither is stays as it is.
   * Does nothing about one that has ended. Answers null when no answer came in time. Refuses with SERVICE_UNAVAILABLE when
   * Temporal is away.
   */
  carryOut(em: EntityManager, ports: DecisionPorts, decision: Decision, hand: Hand): Promise<unknown>;
  /** Why it is void by now, as what it is about has moved; null where it has not. */
  whyMoved(tx: EntityManager, decision: Decision): Promise<string | null>;
}

/** One kind of decision that operators propose: what is looked at then, and how it is carried out. */
export interface DecisionHandling<Kind extends ProposedKind> extends CarryingOut {
  /** Refuses with NOT_FOUND and REQUEST_INVALID what cannot be carried out as things are; then nothing is written. */
  look(em: EntityManager, gateway: Gateway, proposal: ProposalOf<Kind>): Promise<Look>;
}
