import { z } from 'zod';
import { refuse } from '../shared/errors.ts';
import { feeOf, type Money } from '../shared/money.ts';
import type { TurnOrder } from './saving-circle.ts';

/** What a circle does when a contribution is still missing after the interval and the grace days. */
export const defaultRules = ['wait', 'cover', 'exclude', 'winner_first'] as const;
export type DefaultRule = (typeof defaultRules)[number];

export const longestGraceDays = 30;

/** The terms of a circle, which members accept by joining. */
export const TermsAnswer = z
  .object({
    // Whole days from the end of a round's interval until a missing contribution is a default.
    grace_days: z.int().min(0).max(longestGraceDays),
    on_default: z.enum(defaultRules),
    // Whole percent of the contribution that the circle keeps from each member until its end.
    guarantee_percent: z.int().min(0).max(100),
  })
  .meta({ id: 'SavingCircleTerms' });
export type CircleTerms = z.output<typeof TermsAnswer>;

/** Terms as requested; `termsAskedFor` replaces null and absent ones. */
export type AskedTerms = { [Term in keyof CircleTerms]?: CircleTerms[Term] | null | undefined };

const defaultTerms: CircleTerms = { grace_days: 0, on_default: 'wait', guarantee_percent: 0 };

/** Returns the requested terms, complete: null means the default, an absent term stays as it was. */
export function termsAskedFor(asked: AskedTerms, before: CircleTerms | null = null): CircleTerms {
  const named = Object.entries(asked).filter(([, value]) => value !== undefined);
  const terms = named.map(([term, value]) => [term, value ?? defaultTerms[term as keyof CircleTerms]]);
  return { ...defaultTerms, ...before, ...Object.fromEntries(terms) };
}

/** The columns of a circle's terms; all are set, or none. */
export type TermsColumns = { [Term in keyof CircleTerms]?: CircleTerms[Term] | null };

/** Returns the terms of a circle, or null if it has none. */
export function termsOf({ grace_days, on_default, guarantee_percent }: TermsColumns): CircleTerms | null {
  if (!on_default) return null;
  return { grace_days: grace_days ?? 0, on_default, guarantee_percent: guarantee_percent ?? 0 };
}

export const columnsOf = (terms: CircleTerms | null): Required<TermsColumns> =>
  terms ?? { grace_days: null, on_default: null, guarantee_percent: null };

/**
 * Returns a member's exact guarantee (IDR, scale 4). Throws REQUEST_INVALID on the field at fault if it is not a valid
 * amount of money.
 */
export const guaranteeOf = (
  { guarantee_percent }: TermsColumns,
  contribution: Money,
  field: 'amount' | 'terms.guarantee_percent' = 'terms.guarantee_percent',
): Money => feeOf(contribution, '0', (guarantee_percent ?? 0) * 100, { name: 'guarantee', field });

/** Returns whether each member contributes a value to the draw, as in lotteries with terms. */
export const drawsWithEntropy = ({ turn_order, on_default }: TermsColumns & { turn_order: TurnOrder }): boolean =>
  turn_order === 'lottery' && Boolean(on_default);

/** Returns whether members must consent to debits when they join. */
export const needsConsent = ({ on_default }: TermsColumns): boolean => on_default === 'winner_first';

/** Throws if the terms require consent and the new member does not give it. Returns whether they consented. */
export function requireConsent(terms: TermsColumns, consent: boolean | undefined): boolean {
  if (!needsConsent(terms)) return false;
  const why =
    'must be true: members keep paying after they have received the pot, by debits of the account if necessary';
  return consent || refuse('REQUEST_INVALID', why, { field: 'consent' });
}
