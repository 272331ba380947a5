import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Pure facts about products. */
export const productKinds = [
  'investment',
  'commodity_financing',
  'trusted_partner_investment',
  'takaful_insurance',
  'takaful_tabaru',
] as const;
export type ProductKind = (typeof productKinds)[number];

/**
 * A product is `completed` when, and only when, an open one reaches its target; a closed one stays closed whatever is
 * paid in.
 */
export const productLaw = statusLaw({
  initial: ['open'],
  transitions: {
    open: ['closed', 'completed'],
    closed: ['open'],
    completed: ['open', 'closed'],
  },
});
export type ProductStatus = StatusOf<typeof productLaw>;
