import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { feeOf, type Money } from '../../shared/money.ts';

/** SQL: the most specific fee rule `f` for payouts of partner `p` to bank `b`; empty if there is none. */
export const payoutRule = `left join lateral (select * from partner_fees f where f.partner_id = p.id and f.method = 'payout'
    and (f.channel is null or f.channel = b.bank_code) and f.organization_id is null
  order by f.channel is null limit 1) f on true`;

/**
 * The provider's fee for a transfer of `net` to this bank (IDR, scale 4): from the partner's fee rule, or 0 if it has
 * none; if there is no partner, from the bank's row.
 */
export async function readProviderFee(
  em: EntityManager,
  { partnerId, bankCode, net }: { partnerId: string | null; bankCode: string; net: Money },
): Promise<Money> {
  const [row] = await em.execute<{ fixed: Money; basis_points: number }[]>(
    `select coalesce(f.provider_fixed, case when p.id is null then b.provider_fee_fixed else 0 end)::text as fixed,
       coalesce(f.provider_basis_points, case when p.id is null then b.provider_fee_basis_points else 0 end) as basis_points
     from payout_banks b left join partners p on p.id = ?::uuid ${payoutRule} where b.bank_code = ?`,
    [partnerId, bankCode],
  );
  const { fixed, basis_points: basisPoints } = must(row, 'the bank has a row in payout_banks');
  return feeOf(net, fixed, basisPoints);
}
