import type { OpeningStamp } from '../openings/opening.ts';
import type { Money } from '../shared/money.ts';
import type { RoundFacts } from './default.ts';
import type { CircleOwnerType, CircleStatus, CircleVisibility, RoundInterval, TurnOrder } from './saving-circle.ts';
import type { CircleTerms } from './terms.ts';

/** What the workflow of a circle and its activities tell each other: ids, amounts and instants, never people. */

export interface CircleOpening {
  /** The circle's name, sealed for its row: it is free text. */
  nameSealed: string;
  accountId: string;
  ownerType: CircleOwnerType;
  ownerId: string;
  organizationId: string | null;
  createdBy: string;
  capacity: number;
  /** IDR, scale 4. */
  amount: Money;
  visibility: CircleVisibility;
  roundInterval: RoundInterval;
  turnOrder: TurnOrder;
  /** Null of a circle without terms; absent in what an older release has started. */
  terms?: CircleTerms | null;
  /** As it was asked for. */
  startDate: string;
  /** ISO 8601. */
  startsAt: string;
  requestId: string;
  /** Absent in what an older release has started. */
  stamp?: OpeningStamp;
}

/** Why a circle is woken. A hint: the circle looks at the database. */
export type CircleHint = 'contributionCompleted' | 'circleChanged' | 'circleCancelled';

/** What the workflow of a circle is started with. */
export interface SavingCircleInput {
  circleId: string;
  /** What the request asked for. Absent when a circle that has its row is looked after again. */
  opening?: CircleOpening;
}

/** The workflows of circles, as use cases meet them; made by `temporal/`, passed in. */
export interface CircleWorkflows {
  /**
   * Starts the circle's workflow and waits at most `waitMs` for its row. Refuses with SERVICE_UNAVAILABLE when Temporal is
   * away.
   */
  startSavingCircle(circleId: string, opening: CircleOpening, waitMs: number): Promise<void>;
  /** Wakes the circle's workflow, or starts it again from its row. Never fails: what is lost, a sweep finds. */
  wakeSavingCircle(circleId: string, hint: CircleHint): Promise<void>;
  /** The same for that sweep, which has to know: throws when Temporal does not take it. */
  lookAfterSavingCircle(circleId: string): Promise<void>;
}

interface Standing {
  members: number;
  /** IDR, scale 4: a contribution. */
  amount: Money;
  turn: number;
  lastTurn: number;
}

export interface OpenRound {
  /** ISO 8601: from here on, missing contributions are overdue. */
  dueAt: string;
  overdueReported: boolean;
  receiverUserId: string;
  /** How many members have no completed contribution, and the first of their user ids. */
  missing: number;
  missingUserIds: string[];
  /** What the workflow decides from; absent in what an older release has answered. */
  facts?: RoundFacts;
}

/** Where a circle stands, as the database says: what its workflow decides from. Instants are ISO 8601. */
export type CircleProgress =
  | ({ phase: 'waiting for its start'; startsAt: string } & Standing)
  | ({ phase: 'between rounds'; opensAt: string } & Standing)
  | ({ phase: 'collecting'; round: OpenRound } & Standing)
  | { phase: 'ended'; status: CircleStatus };

/** A step of a circle's workflow, at an instant of the workflow's clock (ISO 8601). */
export interface CircleStep {
  circleId: string;
  at: string;
}
