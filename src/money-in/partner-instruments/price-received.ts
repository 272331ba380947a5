import type { EntityManager } from '@mikro-orm/postgresql';
import {
  complainOfFee,
  type FeeRule,
  freeOfCharge,
  isWorthwhile,
  leastCollection,
  priceCollection,
} from '../../partners/fee.ts';
import { compareMoney, feeOf, isWholeRupiah, type Money } from '../../shared/money.ts';

/** The price of a payment to an instrument. The gross is the amount paid, whatever the partner's fee mode. */
export interface PricedPayment {
  fee: Money;
  net: Money;
  providerFee: Money;
}

interface Terms {
  minimum_amount: Money;
  maximum_amount: Money;
  fixed: Money | null;
  basis_points: number;
  provider_fixed: Money;
  provider_basis_points: number;
}

/** A channel's limits and the partner's fee rule for it. */
async function readTerms(em: EntityManager, partnerId: string, channelId: number): Promise<Terms | undefined> {
  const [terms] = await em.execute<Terms[]>(
    `select c.minimum_amount::text, c.maximum_amount::text, f.fixed::text, f.basis_points, f.provider_fixed::text,
       f.provider_basis_points
     from payment_channels c
     left join lateral (select * from partner_fees f where f.partner_id = ? and f.method = c.method
         and (f.channel is null or f.channel = c.channel_code) and f.organization_id is null
       order by f.channel is null limit 1) f on true
     where c.id = ?`,
    [partnerId, channelId],
  );
  return terms;
}

/**
 * The price of a payment of `gross` (IDR, scale 4), or why the channel does not accept the amount: outside its limits,
 * not whole rupiah, or not more than the fee.
 */
export async function priceReceived(
  em: EntityManager,
  { partnerId, channelId, gross }: { partnerId: string; channelId: number; gross: Money },
): Promise<{ price: PricedPayment } | { complaint: string }> {
  const terms = await readTerms(em, partnerId, channelId);
  if (terms === undefined) return { complaint: 'the channel is not served' };
  const { minimum_amount: least, maximum_amount: most } = terms;
  if (!isWholeRupiah(gross)) return { complaint: `the amount paid, ${gross}, is not a whole IDR amount` };
  const rule: FeeRule = terms.fixed === null ? freeOfCharge : { ...terms, fixed: terms.fixed };
  const price = priceCollection('DEDUCTED', gross, rule);
  if (!isWorthwhile(price)) return { complaint: complainOfFee(price.fee, leastCollection('DEDUCTED', rule, least)) };
  if (compareMoney(gross, least) < 0 || compareMoney(gross, most) > 0) {
    return { complaint: `the channel accepts IDR ${least} to ${most}` };
  }
  const providerFee = feeOf(gross, rule.provider_fixed, rule.provider_basis_points);
  return { price: { fee: price.fee, net: price.net, providerFee } };
}
