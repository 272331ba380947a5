import type { EntityManager } from '@mikro-orm/postgresql';
import type { TimelineItem } from '../../partners/timeline.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Payout } from './payout.entity.ts';
import type { PayoutKind } from './payout.ts';

/** Why a payout must not be sent. */
export interface Held {
  /** The payout waits for an operator's decision. */
  isHeld: boolean;
  /**
   * The failure code if no request may be sent any more: a payout never requested then fails with it. Otherwise null.
   */
  failureCode: string | null;
  /** No further request may be sent; we only ask the provider whether one was. */
  isBarred?: boolean;
}

/** What a kind of payout adds to the timeline that all kinds share. */
export interface ToldPayout {
  /** The kind's name after "A" or "The". */
  name: string;
  /** The source of the money, after "from". */
  origin: string;
  items: TimelineItem[];
  /** The next step while people have yet to decide, or have just rejected it; otherwise null. */
  next: { at: Date | null; text: string } | null;
}

/** The steps of a payout that depend on its kind, once its money is reserved. */
export interface PayoutHandling {
  /** Whether a payout waits for people's decision before it is sent, or must fail because they rejected it. */
  heldBy?(tx: EntityManager, payout: Payout): Promise<Held>;
  /**
   * For a payout that people decide about: its description, and each step of the decision, for the timeline. Otherwise
   * null.
   */
  tell?(em: EntityManager, payout: Payout): Promise<ToldPayout | null>;
  /**
   * Called when the status has changed, in the same transaction, after the journal. Returns the ids of the webhooks
   * written.
   */
  moved(tx: EntityManager, sealer: Sealer, payout: Payout, moved: { journalId: string; at: Date }): Promise<string[]>;
  /**
   * Called once the outcome has been unknown for ten minutes; returns as `moved` does. If absent, sends no
   * notification.
   */
  delayed?(tx: EntityManager, sealer: Sealer, payout: Payout, delayed: { at: Date }): Promise<string[]>;
}

/** The handling of each kind, defined by its own module. */
export type PayoutKinds = Record<PayoutKind, PayoutHandling>;

/** What a status change needs besides the database. */
export interface MovingPorts {
  sealer: Sealer;
  payoutKinds: PayoutKinds;
}
