import { z } from 'zod';
import { type DefaultRule, defaultRules } from '../../src/circles/terms.ts';
import { below, castSize, inARow, whole } from './cast-size.ts';
import type { Random } from './random.ts';

/** What the defaulter does about the missing contribution: nothing, pays late, or leaves an order unpaid. */
const habits = ['never', 'late', 'order'] as const;

/**
 * A circle with terms, in which one member does not pay in time. `members` are numbers of people in the cast; other
 * members are positions in `members`.
 */
export interface TermsOperation {
  do: 'terms';
  members: number[];
  amount: number;
  channel: number;
  rule: DefaultRule;
  percent: number;
  /** The member who does not pay, and the turn. */
  defaulter: number;
  turn: number;
  pays: (typeof habits)[number];
  /** The member with a standing order; null for none. */
  stands: number | null;
  /** Whether in each turn one member pays for another. */
  helps: boolean;
  /** The person in the cast who takes over the last place in the second turn; null for nobody. */
  heir: number | null;
  end: 'run' | 'cancel';
}

const mostMembers = 4;
const everyMs = 15_000;
/** A circle takes time, so it is created in this first share of the plan. */
const foundedWithin = 0.6;
const soonFoundedWithin = 0.15;
const leastGuarantors = 3;

/** Draws the circles with terms for a plan of this length, and when they are created. */
export function planTerms(
  random: Random,
  { durationMs, channels }: { durationMs: number; channels: readonly number[] },
): ({ at: number } & TermsOperation)[] {
  const count = Math.max(1, Math.round(durationMs / everyMs));
  const sure = random.shuffled(['cover', 'exclude'] as const);
  return Array.from({ length: count }, (_, index) => {
    const drawn = drawTerms(random, channels);
    const rule = sure[index];
    const within = rule === undefined ? foundedWithin : soonFoundedWithin;
    return {
      at: random.int(0, Math.round(durationMs * within)),
      ...drawn,
      ...(rule !== undefined && surelyDefaults(random, drawn, rule)),
    };
  });
}

function drawTerms(random: Random, channels: readonly number[]): TermsOperation {
  const { users } = castSize;
  const size = random.int(2, mostMembers);
  const first = random.int(0, users - 1);
  return {
    do: 'terms',
    members: inARow(first, size),
    amount: random.int(5, 12) * 1_000,
    channel: random.pick(channels),
    rule: random.weighted({ cover: 4, exclude: 4, winner_first: 2, wait: 1 }),
    percent: random.pick([50, 100, 100]),
    defaulter: random.int(0, size - 1),
    turn: random.int(1, size),
    pays: random.weighted({ never: 4, late: 2, order: 3 }),
    stands: random.chance(0.4) ? random.int(0, size - 1) : null,
    helps: random.chance(0.4),
    heir: random.chance(0.3) ? (first + size) % users : null,
    end: random.chance(0.15) ? 'cancel' : 'run',
  };
}

/**
 * Cases that every run must include, because chance rarely produces them: a member pays once, with a guarantee of half
 * a contribution, and never the second time. `cover` takes the other half from the guarantees of all others. `exclude`
 * removes the member whose turn it is: those who have received then owe more than their guarantee, so the circle ends
 * up holding too little, and the order in which guarantees are returned decides who gets what. (With `cover` all
 * creditors have lost the same, and the order makes no difference.) Created early, both have time to complete.
 */
function surelyDefaults(
  random: Random,
  { members: [first = 0], stands }: TermsOperation,
  rule: 'cover' | 'exclude',
): Partial<TermsOperation> {
  const size = random.int(leastGuarantors, mostMembers);
  return {
    rule,
    members: inARow(first, size),
    percent: 50,
    defaulter: rule === 'cover' ? size - 1 : 1,
    turn: 2,
    pays: 'never',
    stands: stands === null ? null : 0,
    heir: null,
    end: 'run',
  };
}

/** The fields of such a circle in a recorded plan. */
export const termsFields = {
  members: z.array(below(castSize.users)),
  amount: whole,
  channel: z.int(),
  rule: z.enum(defaultRules),
  percent: z.int().min(0).max(100),
  defaulter: below(mostMembers),
  turn: z.int().min(1),
  pays: z.enum(habits),
  stands: below(mostMembers).nullable(),
  helps: z.boolean(),
  heir: below(castSize.users).nullable(),
  end: z.enum(['run', 'cancel']),
} satisfies Record<Exclude<keyof TermsOperation, 'do'>, z.ZodType>;
