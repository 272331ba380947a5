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
    // Whole days after the end of a round's interval until a missing contribution is a default.
    grace_days: z.int().min(0).max(longestGraceDays),
    on_default: z.enum(defaultRules),
    // Whole percent of the contribution that each member leaves with the circle until its end.
    guarantee_percent: z.int().min(0).max(100),
  })
  .meta({ id: 'SavingCircleTerms' });
export type CircleTerms = z.output<typeof TermsAnswer>;

/** Terms as requested; `termsAskedFor` fills in null and absent ones. */
export type AskedTerms = { [Term in keyof CircleTerms]?: CircleTerms[Term] | null | undefined };

const defaultTerms: CircleTerms = { grace_days: 0, on_default: 'wait', guarantee_percent: 0 };

/** The terms a request asks for: null means the default, an absent one stays as it was. */
export function termsAskedFor(asked: AskedTerms, before: CircleTerms | null = null): CircleTerms {
  const named = Object.entries(asked).filter(([, value]) => value !== undefined);
  const terms = named.map(([term, value]) => [term, value ?? defaultTerms[term as keyof CircleTerms]]);
  return { ...defaultTerms, ...before, ...Object.fromEntries(terms) };
}

/** The columns of a circle's terms: all set, or none. */
export type TermsColumns = { [Term in keyof CircleTerms]?: CircleTerms[Term] | null };

/** The terms of a circle; null when it was created without. */
export function termsOf({ grace_days, on_default, guarantee_percent }: TermsColumns): CircleTerms | null {
  if (!on_default) return null;
  return { grace_days: grace_days ?? 0, on_default, guarantee_percent: guarantee_percent ?? 0 };
}

export const columnsOf = (terms: CircleTerms | null): Required<TermsColumns> =>
  terms ?? { grace_days: null, on_default: null, guarantee_percent: null };

/** A member's guarantee (IDR, scale 4), exact. Throws REQUEST_INVALID on the field at fault if money cannot hold it. */
export const guaranteeOf = (
  { guarantee_percent }: TermsColumns,
  contribution: Money,
  field: 'amount' | 'terms.guarantee_percent' = 'terms.guarantee_percent',
): Money => feeOf(contribution, '0', (guarantee_percent ?? 0) * 100, { name: 'guarantee', field });

/** Whether each member contributes a value to the draw: in lotteries with terms. */
export const drawsWithEntropy = ({ turn_order, on_default }: TermsColumns & { turn_order: TurnOrder }): boolean =>
  turn_order === 'lottery' && Boolean(on_default);

/** Whether members must consent to debits when they join. */
export const needsConsent = ({ on_default }: TermsColumns): boolean => on_default === 'winner_first';

/** Throws if the terms require consent and the new member does not give it. Returns whether they consented. */
export function requireConsent(terms: TermsColumns, consent: boolean | undefined): boolean {
  if (!needsConsent(terms)) return false;
  const why = 'must be true: members who have received go on paying, by debits of the account if necessary';
  return consent || refuse('REQUEST_INVALID', why, { field: 'consent' });
}
