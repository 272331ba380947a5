import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Pure facts about products (docs/contract.md 3). */
export const productKinds = [
  'investment',
  'commodity_financing',
  'trusted_partner_investment',
  'takaful_insurance',
  'takaful_tabaru',
] as const;
export type ProductKind = (typeof productKinds)[number];

/**
 * `completed` follows from the target of an open product being reached, and only from that; one that was closed stays so
 * whatever comes in.
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
