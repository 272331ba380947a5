import type { DefaultRule } from './terms.ts';

/**
 * Pure rules for missing contributions of a round. A circle's workflow asks what is due next; the step that does it
 * asks `remedy.ts` for the remedy.
 */

export const dayMs = 24 * 60 * 60 * 1000;

/** What the workflow knows of the open round, from the database. Instants are ISO 8601. */
export interface RoundFacts {
  /** Null for a circle without terms. */
  rule: DefaultRule | null;
  graceDays: number;
  dueAt: string;
  isReminded: boolean;
  isOverdueReported: boolean;
  isDefaulted: boolean;
  /** When the remedy was last tried. */
  remediedAt: string | null;
  /** Whether missing contributions can be made good now, without waiting for the next try. */
  canRemedy: boolean;
  /** Whether orders for contributions are open; none is made any more by the end of the days of grace. */
  hasOrders: boolean;
  /** Whether members have standing orders for the round that have not been tried yet. */
  hasStandingOrders?: boolean;
}

export type RoundStep = 'pay standing orders' | 'remind' | 'report overdue' | 'settle default';

/**
 * What is due next in a round with missing contributions, and when (ISO 8601); null when it waits for its members, or
 * for the end of their orders: each ends with the days of grace at the latest, when the provider says what was paid.
 */
export function nextOfRound(facts: RoundFacts): { step: RoundStep; at: string } | null {
  const due = Date.parse(facts.dueAt);
  const at = (step: RoundStep, instant: number) => ({ step, at: new Date(instant).toISOString() });
  if (facts.hasStandingOrders) return at('pay standing orders', 0);
  if (!facts.isReminded && !facts.isOverdueReported) return at('remind', due - dayMs);
  if (!facts.isOverdueReported) return at('report overdue', due);
  // An order that ends, paid or not, wakes the circle.
  if (facts.rule === null || facts.hasOrders) return null;
  const defaultAt = due + facts.graceDays * dayMs;
  if (!facts.isDefaulted || facts.canRemedy) return at('settle default', defaultAt);
  if (facts.rule === 'wait') return null;
  return at('settle default', facts.remediedAt === null ? defaultAt : Date.parse(facts.remediedAt) + dayMs);
}
