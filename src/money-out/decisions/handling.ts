import type { EntityManager } from '@mikro-orm/postgresql';
import type { ErasureWorkflows } from '../../control/erasure/erasure.ts';
import type { ReceiptWorkflows } from '../../money-in/payments/payment-contract.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Gateway } from '../../platform/gateway/gateway.ts';
import type { PayoutWorkflows } from '../payouts/payout.ts';
import type { Decision } from './decision.entity.ts';
import type { Evidence, ProposalOf, ProposedKind } from './decision.ts';

/** What decisions need in addition to the database. */
export interface DecisionPorts {
  gateway: Gateway;
  sealer: Sealer;
  /** Woken afterwards; what they miss their sweeps see. */
  workflows: Pick<PayoutWorkflows, 'hintPayout'> & ReceiptWorkflows & ErasureWorkflows;
}

/** What was found at the time of proposal. */
export interface Look {
  evidence: Evidence;
  /** One person is enough: the provider's final status proves it, or it moves no money. */
  isProven: boolean;
}

/** How one kind of decision is carried out. */
export interface CarryingOut {
  /**
   * Carries out and ends a decision that is approved or needs only one person; any other stays as it is. Does nothing
   * when it has already ended.
   */
  carryOut(em: EntityManager, ports: DecisionPorts, decision: Decision): Promise<unknown>;
  /** Why it has become void through a change of its subject; null if it has not. */
  whyMoved(tx: EntityManager, decision: Decision): Promise<string | null>;
  /** Why this person may not approve it, though others may; null if nothing is against it. */
  whyNotBy?(tx: EntityManager, decision: Decision, userId: string): Promise<string | null>;
}

/** A kind of decision that operators propose: the checks at its proposal, and how it is carried out. */
export interface DecisionHandling<Kind extends ProposedKind> extends CarryingOut {
  /**
   * Throws NOT_FOUND or REQUEST_INVALID when it cannot be carried out as things are, and FORBIDDEN when the proposer may
   * have no part in it; then nothing is written.
   */
  look(em: EntityManager, gateway: Gateway, proposal: ProposalOf<Kind>, proposerId: string): Promise<Look>;
}
