import type { EntityManager } from '@mikro-orm/postgresql';
import type { PaymentMethodKind } from '../platform/gateway/gateway.ts';
import { must } from '../shared/assert.ts';
import type { Money } from '../shared/money.ts';
import { leastCollection, leastPayout } from './fee.ts';
import type { FeeMode } from './partner.ts';

interface Priced {
  /** IDR, scale 4. */
  fixed: Money;
  basis_points: number;
  minimum_amount: Money;
  maximum_amount: Money;
}

export interface CollectionChannel extends Priced {
  method: PaymentMethodKind;
  channel: string | null;
  /** Whether the provider can refund the wallet that paid, whether partly, and for how many days after payment. */
  refundable: boolean;
  refundable_in_part: boolean;
  refund_window_days: number;
}

export interface PayoutBank extends Priced {
  bank_code: string;
  name: string;
  account_number_min_length: number;
  account_number_max_length: number;
}

const feeFor = (method: string, channel: string) => `left join lateral (
    select fixed, basis_points from partner_fees f
    where f.partner_id = ? and f.organization_id is null and f.method = ${method}
      and (f.channel is null or f.channel = ${channel})
    order by f.channel is null limit 1) f on true`;
const columns = `coalesce(f.fixed, 0)::numeric(20, 4)::text as fixed, coalesce(f.basis_points, 0) as basis_points,
  minimum_amount::text, maximum_amount::text`;

/**
 * The channels and banks open to a partner, with its fees and minimum amounts; from the same tables that validate its
 * requests.
 */
export async function findOpenChannels(
  em: EntityManager,
  partnerId: string,
): Promise<{ feeMode: FeeMode; collection: CollectionChannel[]; payoutBanks: PayoutBank[] }> {
  const [partner] = await em.execute<{ fee_mode: FeeMode }[]>('select fee_mode from partners where id = ?', [
    partnerId,
  ]);
  const { fee_mode: feeMode } = must(partner, 'partners are never deleted');
  const collection = await em.execute<CollectionChannel[]>(
    `select c.method, case when c.method <> 'qris' then c.channel_code end as channel, ${columns},
       c.refundable, c.refundable_in_part, c.refund_window_days
     from payment_channels c ${feeFor('c.method', 'c.channel_code')} where c.active order by c.id`,
    [partnerId],
  );
  const payoutBanks = await em.execute<PayoutBank[]>(
    `select b.bank_code, b.name, ${columns}, account_number_min_length, account_number_max_length
     from payout_banks b ${feeFor("'payout'", 'b.bank_code')} where b.active order by b.bank_code`,
    [partnerId],
  );
  return {
    feeMode,
    collection: collection.map((channel) =>
      withLeast(channel, leastCollection(feeMode, channel, channel.minimum_amount)),
    ),
    payoutBanks: payoutBanks.map((bank) => withLeast(bank, leastPayout(feeMode, bank, bank.minimum_amount))),
  };
}

const withLeast = <T extends Priced>(priced: T, least: Money | null): T =>
  least === null ? priced : { ...priced, minimum_amount: least };
