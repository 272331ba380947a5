/** Our page for payers who return from a wallet (docs/contract.md 3). */
export const paidPath = (id: string): string => `/paid/${id}`;

/** Where an e-wallet sends the payer of this order or payment afterwards, unless a partner gave its own URL. */
export const returnUrlOf = (publicUrl: string, id: string): string => new URL(paidPath(id), publicUrl).href;
