import type { Money } from '../shared/money.ts';
import type { RoundFacts, RoundStep } from './remedy.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import type { CircleStatus } from './saving-circle.ts';

/** What a circle's workflow and activities exchange: ids, amounts and instants, no personal data. */

/** The input of a circle's workflow. */
export interface SavingCircleInput {
  circleId: string;
}

/** What operators are told of a circle where its workflow starts. */
export type ToldCircle = Pick<SavingCircle, 'amount' | 'round_interval' | 'turn_order' | 'organization_id'>;

/** The circle workflows' port for use cases; implemented in `temporal/`. */
export interface CircleWorkflows {
  /**
   * Wakes the circle's workflow, or starts it from its row, and tells operators what circle it is. Never fails: a sweep
   * finds what was missed.
   */
  wakeSavingCircle(circleId: string, told?: ToldCircle): Promise<void>;
  /** The same for that sweep, which has to know: throws when Temporal does not accept it. */
  lookAfterSavingCircle(circleId: string): Promise<void>;
}

interface Standing {
  members: number;
  /** One contribution, IDR, scale 4. */
  amount: Money;
  turn: number;
  lastTurn: number;
}

export interface OpenRound {
  receiverUserId: string;
  /** How many members have no completed contribution, and the first of their user ids. */
  missing: number;
  missingUserIds: string[];
  /** What the workflow decides by. */
  facts: RoundFacts;
}

/** What is done next, and when it is due. */
export interface NextStep {
  step: 'start' | 'open round' | 'pay the pot' | RoundStep;
  at: string;
}

/** A circle's progress by the database: what its workflow decides by. Instants are ISO 8601. */
export type CircleProgress =
  | ({ phase: 'waiting for its start' | 'between rounds'; next: NextStep } & Standing)
  | ({ phase: 'collecting'; round: OpenRound; next: NextStep | null } & Standing)
  | { phase: 'ended'; status: CircleStatus };

/** A circle is moved on, at an instant of the workflow's clock (ISO 8601). */
export interface CircleStep {
  circleId: string;
  at: string;
}
