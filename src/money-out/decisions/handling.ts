import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import type { Sweep } from '../../platform/housekeeping/sweep-rows.ts';
import type { Decision } from './decision.entity.ts';
import type { Evidence, ProposedKind } from './decision.ts';
import type { ProposalOf } from './present-decision.ts';

/** The workflows of decisions' subjects; each kind uses its own. */
export interface DecisionWorkflows {
  hintPayout(payout: { id: string; kind: string }): Promise<void>;
  openUnmatchedReceipt(stray: object): Promise<void>;
  lookAfterErasure(erasureId: string): Promise<void>;
}

export interface DecisionPorts {
  gateways: Gateways;
  sealer: Sealer;
  decisionKinds: DecisionKinds;
  /** Signalled afterwards; sweeps replace lost signals. */
  workflows: DecisionWorkflows;
}

/** What the proposal found. */
export interface Look {
  evidence: Evidence;
  /** Whether one person is enough: the provider's final status proves the decision, or it moves no money. */
  isProven: boolean;
}

/** Undefined if done; otherwise the decision waits for a second person, or is closed without effect. */
export type Effect = undefined | 'waits' | { status: 'refused' | 'lapsed'; reason: string };
export const refused = (reason: string): Effect => ({ status: 'refused', reason });

/** How a kind of decision is carried out: its effect, in the transaction that locks, checks and closes it. */
export interface CarryingOut {
  /** One person may be enough; the effect decides. */
  ofOne?: true;
  /** Asks the provider, before the transaction; throws SERVICE_UNAVAILABLE if the decision needs the answer. */
  hear?(em: EntityManager, gateways: Gateways, decision: Decision): Promise<unknown>;
  /** Locks its subject, and records the provider's answer about it. */
  hold?(tx: EntityManager, decision: Decision, heard: unknown): Promise<unknown>;
  /** Why a change of the subject, or the provider's answer, has made the decision void; null if it is valid. */
  whyMoved(tx: EntityManager, decision: Decision, heard?: unknown): Promise<string | null>;
  act(tx: EntityManager, ports: DecisionPorts, decision: Decision, heard: unknown): Promise<Effect>;
  /** Wakes the workflows concerned, after the commit. */
  tell?(em: EntityManager, workflows: DecisionWorkflows, decision: Decision): Promise<void>;
  /** Resumes work that decisions of this kind have started. */
  sweep?(workflows: DecisionWorkflows): Sweep;
}

/** A kind of decision that operators propose: the checks on proposal, and how it is carried out. */
export interface DecisionHandling<Kind extends ProposedKind> extends CarryingOut {
  /** Throws NOT_FOUND or REQUEST_INVALID if it cannot be carried out now, FORBIDDEN for a barred proposer. */
  look(em: EntityManager, gateways: Gateways, proposal: ProposalOf<Kind>, proposerId: string): Promise<Look>;
}

/** The handling of each kind; a missing kind does not compile. */
export type DecisionKinds = { [Kind in ProposedKind]: DecisionHandling<Kind> } & { disburse: CarryingOut };
