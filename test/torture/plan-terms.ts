import { z } from 'zod';
import { type DefaultRule, defaultRules } from '../../src/circles/terms.ts';
import { below, castSize } from './cast-size.ts';
import type { Random } from './random.ts';

/** What becomes of the contribution that is missing when the interval is over. */
const habits = ['never', 'late', 'order'] as const;

/** A circle with terms, in which somebody does not pay in time. Members are numbers of the cast; the others, of `members`. */
export interface TermsOperation {
  do: 'terms';
  members: number[];
  amount: number;
  channel: number;
  rule: DefaultRule;
  percent: number;
  /** Who does not pay, in which turn. */
  defaulter: number;
  turn: number;
  pays: (typeof habits)[number];
  /** Who has a standing order; null: nobody. */
  stands: number | null;
  /** Whether in each turn somebody pays for another. */
  helps: boolean;
  /** Who takes over the last place in the second turn, of the cast; null: nobody. */
  heir: number | null;
  end: 'run' | 'cancel';
}

const mostMembers = 4;
const everyMs = 15_000;
/** A circle takes its time: one that is founded later would not get far. */
const foundedWithin = 0.6;

/** Circles with terms for a plan of this length, and when they are founded. */
export function planTerms(
  random: Random,
  { durationMs, channels }: { durationMs: number; channels: readonly number[] },
): ({ at: number } & TermsOperation)[] {
  const { users } = castSize;
  return Array.from({ length: Math.max(1, Math.round(durationMs / everyMs)) }, () => {
    const size = random.int(2, mostMembers);
    const first = random.int(0, users - 1);
    return {
      at: random.int(0, Math.round(durationMs * foundedWithin)),
      do: 'terms',
      members: Array.from({ length: size }, (_, index) => (first + index) % users),
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
  });
}

/** Its fields in a recorded plan. */
export const termsFields = {
  members: z.array(below(castSize.users)),
  amount: z.int().min(0),
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
