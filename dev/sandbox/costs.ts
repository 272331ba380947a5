import { z } from 'zod';
import type { Store } from './store.ts';

const rupiah = z.number().int().min(0).max(1e9).default(0);

/** The provider's fee for each successful payment and for each transfer that does not fail, whole rupiah. */
export const costsSchema = z.strictObject({ payment: rupiah, transfer: rupiah });

export type Costs = z.infer<typeof costsSchema>;

const read = (store: Store, name: string): unknown => {
  const row = store.get('select value from settings where name = ?', name);
  return row && JSON.parse(String(row.value));
};

const write = (store: Store, name: string, value: unknown): void => {
  store.run(
    'insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
    name,
    JSON.stringify(value),
  );
};

/** The costs of the next payment and transfer; existing ones are unchanged. */
export const readCosts = (store: Store): Costs => costsSchema.parse(read(store, 'costs') ?? {});

/** Replaces both costs. */
export const writeCosts = (store: Store, costs: Costs): void => write(store, 'costs', costs);

/** The business's own deposits to its balance, less its withdrawals. */
export const readOwnMoney = (store: Store): number => Number(read(store, 'own_money') ?? 0);

/** Records a deposit by the business that is not a payment, or a withdrawal (below 0). */
export const moveOwnMoney = (store: Store, amount: number): void =>
  store.transaction(() => write(store, 'own_money', readOwnMoney(store) + amount));
