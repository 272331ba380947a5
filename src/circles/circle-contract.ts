import type { Money } from '../shared/money.ts';
import type { RoundFacts, RoundStep } from './remedy.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import type { CircleStatus } from './saving-circle.ts';

/** The data that a circle's workflow and activities exchange: ids, amounts and instants, no personal data. */

export interface SavingCircleInput {
  circleId: string;
}

/** The fields of a circle that operators see in Temporal's UI. */
export type ToldCircle = Pick<SavingCircle, 'amount' | 'round_interval' | 'turn_order' | 'organization_id'>;

/** The circle workflows' port for use cases; implemented in `temporal/`. */
export interface CircleWorkflows {
  /** Signals the workflow, or starts it from the row, with a summary for operators. Never throws; a sweep retries. */
  wakeSavingCircle(circleId: string, told?: ToldCircle): Promise<void>;
  /** As `wakeSavingCircle`, for that sweep: throws if Temporal does not accept the signal. */
  lookAfterSavingCircle(circleId: string): Promise<void>;
}

interface Standing {
  members: number;
  /** One contribution, IDR, scale 4. */
  amount: Money;
  turn: number;
  lastTurn: number;
  /** The next step was requested too early, by this many milliseconds of the database's clock. */
  earlyByMs?: number;
}

export interface OpenRound {
  receiverUserId: string;
  /** The number of members without a completed contribution, and the first few of their user ids. */
  missing: number;
  missingUserIds: string[];
  /** The state from which the workflow decides. */
  facts: RoundFacts;
}

export interface NextStep {
  step: 'start' | 'open round' | 'pay the pot' | RoundStep;
  at: string;
}

/** A circle's progress as read from the database, from which its workflow decides. Instants are ISO 8601. */
export type CircleProgress =
  | ({ phase: 'waiting for its start' | 'between rounds'; next: NextStep } & Standing)
  | ({ phase: 'collecting'; round: OpenRound; next: NextStep | null } & Standing)
  | { phase: 'ended'; status: CircleStatus };

/** The request to take a circle's next step, at an instant of the workflow's clock (ISO 8601). */
export interface CircleStep {
  circleId: string;
  at: string;
}
