import { formatMoney, type Money } from '../../shared/money.ts';
import type { Product } from './product.entity.ts';

const formatted = (amount: Money | null | undefined): Money | null => (amount ? formatMoney(amount) : null);

/** A product as the API shows it; what it holds is the balance of its account. */
export const presentProduct = (product: Product, currentAmount: Money) => ({
  id: product.id,
  kind: product.kind,
  name: product.name,
  account_id: product.account_id,
  target_amount: formatted(product.target_amount),
  minimum_amount: formatted(product.minimum_amount),
  current_amount: currentAmount,
  status: product.status,
  created_at: product.created_at.toISOString(),
  updated_at: product.updated_at.toISOString(),
});
