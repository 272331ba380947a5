import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import type { Sweep } from '../../platform/housekeeping/sweep-rows.ts';
import type { Decision } from './decision.entity.ts';
import type { Evidence, ProposedKind } from './decision.ts';
import type { ProposalOf } from './present-decision.ts';

/** The workflows behind the subjects of decisions; each kind uses its own. */
export interface DecisionWorkflows {
  hintPayout(payout: { id: string; kind: string }): Promise<void>;
  openUnmatchedReceipt(stray: object): Promise<void>;
  lookAfterErasure(erasureId: string): Promise<void>;
}

/** What decisions need in addition to the database. */
export interface DecisionPorts {
  gateways: Gateways;
  sealer: Sealer;
  /** The kinds, which their domains keep. */
  decisionKinds: DecisionKinds;
  /** Woken afterwards; what they miss their sweeps see. */
  workflows: DecisionWorkflows;
}

/** What was found at the time of proposal. */
export interface Look {
  evidence: Evidence;
  /** One person is enough: the provider's final status proves it, or it moves no money. */
  isProven: boolean;
}

/** Undefined where the effect is done; otherwise the decision waits for a second person, or ends without effect. */
export type Effect = undefined | 'waits' | { status: 'refused' | 'lapsed'; reason: string };
export const refused = (reason: string): Effect => ({ status: 'refused', reason });

/** How one kind of decision is carried out: its effect, in the transaction that locks, judges and ends it (`carryOut`). */
export interface CarryingOut {
  /** One person may be enough for it: its effect says. */
  ofOne?: true;
  /** Asks the provider, before the transaction; throws SERVICE_UNAVAILABLE where the decision cannot go on without. */
  hear?(em: EntityManager, gateways: Gateways, decision: Decision): Promise<unknown>;
  /** Locks its subject, and writes down what was heard of it. */
  hold?(tx: EntityManager, decision: Decision, heard: unknown): Promise<unknown>;
  /** Why it has become void through a change of its subject, or by what was heard; null if it has not. */
  whyMoved(tx: EntityManager, decision: Decision, heard?: unknown): Promise<string | null>;
  act(tx: EntityManager, ports: DecisionPorts, decision: Decision, heard: unknown): Promise<Effect>;
  /** Wakes whom the end concerns, after the commit. */
  tell?(em: EntityManager, workflows: DecisionWorkflows, decision: Decision): Promise<void>;
  /** Looks after what such decisions have begun. */
  sweep?(workflows: DecisionWorkflows): Sweep;
}

/** A kind of decision that operators propose: the checks at its proposal, and how it is carried out. */
export interface DecisionHandling<Kind extends ProposedKind> extends CarryingOut {
  /**
   * Throws NOT_FOUND or REQUEST_INVALID when it cannot be carried out as things are, and FORBIDDEN when the proposer may
   * have no part in it; then nothing is written.
   */
  look(em: EntityManager, gateways: Gateways, proposal: ProposalOf<Kind>, proposerId: string): Promise<Look>;
}

/** The handling of each kind; a kind without one does not compile. */
export type DecisionKinds = { [Kind in ProposedKind]: DecisionHandling<Kind> } & { disburse: CarryingOut };
