import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import type { Money } from '../../shared/money.ts';
import { isUuid } from '../../shared/uuid.ts';

/**
 * The provider's fee for a payment of `amount` under this reference (IDR, scale 4): for a user's order that of its
 * channel as it is now; for a partner's payment the one it was priced with, if `amount` is its amount. 0 where it
 * cannot be known: the reconciliation with the provider's balance shows the difference.
 */
export async function costOfPayment(
  tx: EntityManager,
  { reference, amount }: { reference: string; amount: Money },
): Promise<Money> {
  if (!isUuid(reference)) return '0.0000';
  const [row] = await tx.execute<{ cost: Money }[]>(
    `select coalesce(
       (select round(c.provider_fee_fixed + ?::numeric * c.provider_fee_basis_points / 10000, 4)
        from payment_orders o join payment_channels c on c.id = o.payment_id where o.id = ?),
       (select provider_fee from partner_payments where id = ? and amount = ?::numeric), 0)::numeric(20, 4) as cost`,
    [amount, reference, reference, amount],
  );
  return must(row, 'a coalesce has a row').cost;
}
