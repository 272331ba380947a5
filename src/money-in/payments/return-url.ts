/** Our page for payers who return from a wallet (docs/contract.md 3). */
export const paidPath = (id: string): string => `/paid/${id}`;

/** The URL to which an e-wallet returns the payer of this order or payment, unless the partner gave one. */
export const returnUrlOf = (publicUrl: string, id: string): string => new URL(paidPath(id), publicUrl).href;
