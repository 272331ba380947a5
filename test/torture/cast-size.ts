/** How many people, partners and causes a plan speaks of. */
export const castSize = { users: 12, partners: 2, causes: 2, approvers: 3 } as const;
