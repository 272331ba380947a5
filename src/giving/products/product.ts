import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Kinds and statuses of products. */
export const productKinds = [
  'investment',
  'commodity_financing',
  'trusted_partner_investment',
  'takaful_insurance',
  'takaful_tabaru',
] as const;
export type ProductKind = (typeof productKinds)[number];

/** An open product that reaches its target becomes `completed`; a closed one stays `closed`. */
export const productLaw = statusLaw({
  initial: ['open'],
  transitions: {
    open: ['closed', 'completed'],
    closed: ['open'],
    completed: ['open', 'closed'],
  },
});
export type ProductStatus = StatusOf<typeof productLaw>;
