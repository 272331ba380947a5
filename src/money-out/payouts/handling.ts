import type { EntityManager } from '@mikro-orm/postgresql';
import type { TimelineItem } from '../../partners/timeline.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Payout } from './payout.entity.ts';
import type { PayoutKind } from './payout.ts';

/** What keeps a payout from being sent. */
export interface Held {
  /** It waits for the decision of people. */
  isHeld: boolean;
  /** It fails with this code, unsent; null otherwise. */
  failureCode: string | null;
  /** No request of it may leave any more; whether one has left is asked. */
  isBarred?: boolean;
}

/** What a timeline shows besides what all payouts share. */
export interface ToldPayout {
  /** What it is called after "A" or "The". */
  name: string;
  /** Whose money it is, after "from". */
  origin: string;
  items: TimelineItem[];
  /** What happens next as long as people have not decided, or have just decided against it; null otherwise. */
  next: { at: Date | null; text: string } | null;
}

/** What differs for one kind of payout once its money is reserved. */
export interface PayoutHandling {
  /** Whether a payout waits for the decision of people before it is sent, or has to fail because they said no. */
  heldBy?(tx: EntityManager, payout: Payout): Promise<Held>;
  /** What its timeline tells of one that people decide about: what it is, and each step of the decision. Null of others. */
  tell?(em: EntityManager, payout: Payout): Promise<ToldPayout | null>;
  /**
   * Called when it has moved to another status, in the same transaction, after its journal. Returns the ids of the
   * webhooks it wrote.
   */
  moved(tx: EntityManager, sealer: Sealer, payout: Payout, moved: { journalId: string; at: Date }): Promise<string[]>;
  /**
   * Called once its outcome has been unknown for ten minutes; returns as `moved` does. Without it nobody is notified.
   */
  delayed?(tx: EntityManager, sealer: Sealer, payout: Payout, delayed: { at: Date }): Promise<string[]>;
}

/** The handling of each kind, which its domain keeps. */
export type PayoutKinds = Record<PayoutKind, PayoutHandling>;

/** What moving a payout to another status needs in addition to the database. */
export interface MovingPorts {
  sealer: Sealer;
  payoutKinds: PayoutKinds;
}
