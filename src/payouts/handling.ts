import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import type { Payout } from './payout.entity.ts';

/** What is different for one kind of payout once its money is reserved. */
export interface PayoutHandling {
  /** What its events and webhooks call it. */
  resourceType: 'payout' | 'withdrawal';
  /** Whether a payout waits for a decision of people before it is sent, or has to end as that was no. */
  heldBy?(tx: EntityManager, payout: Payout): Promise<{ isHeld: boolean; failureCode: string | null }>;
  /**
   * What follows when it has moved to another status, in the transaction that moved it, after its journal. Answers the
   * ids of the webhooks that it wrote.
   */
  moved(tx: EntityManager, sealer: Sealer, payout: Payout, moved: { journalId: string; at: Date }): Promise<string[]>;
  /** Tells, once, that nobody can tell for ten minutes what became of it, as `moved` does. Nobody is told without. */
  delayed?(tx: EntityManager, sealer: Sealer, payout: Payout, delayed: { at: Date }): Promise<string[]>;
}
