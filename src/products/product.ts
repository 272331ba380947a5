/** Pure facts about products (decisions 3). */
export const productKinds = [
  'investment',
  'commodity_financing',
  'trusted_partner_investment',
  'takaful_insurance',
  'takaful_tabaru',
] as const;
export type ProductKind = (typeof productKinds)[number];

/** Product states and where each may go; `completed` follows from the target being reached, and only from that. */
export const productTransitions = {
  open: ['closed', 'completed'],
  closed: ['open', 'completed'],
  completed: ['open', 'closed'],
} as const satisfies Record<string, readonly string[]>;
export type ProductStatus = keyof typeof productTransitions;
export const productStatuses = Object.keys(productTransitions) as ProductStatus[];
