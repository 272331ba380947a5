import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import { canCharge } from './fee.ts';
import { lockPartner } from './find-partner.ts';
import type { FeeMethod, FeeMode } from './partner.ts';

export interface FeeRow {
  method: FeeMethod;
  channel: string | null;
  organization_id: string | null;
  fixed: Money;
  basis_points: number;
  provider_fixed: Money;
  provider_basis_points: number;
}

/** A partner's fee table. */
export async function findFees(em: EntityManager, partnerId: string): Promise<FeeRow[]> {
  return em.execute<FeeRow[]>(
    `select method, channel, organization_id, fixed, basis_points, provider_fixed, provider_basis_points
     from partner_fees where partner_id = ? order by method, channel nulls first, organization_id nulls first`,
    [partnerId],
  );
}

/**
 * Replaces a partner's whole fee table (amounts in IDR, scale 4). Throws REQUEST_INVALID for two rules about the same
 * method, channel and organization, an unknown channel or bank, an unlinked organization, and a rule that could never
 * apply: a payout rule with an organization, or one whose fee exceeds every allowed amount.
 */
export function setFees(
  em: EntityManager,
  input: { caller: Pick<Caller, 'userId'>; requestId: string; partnerId: string; fees: FeeRow[] },
): Promise<FeeRow[]> {
  return em.transactional(async (tx) => {
    const partner = await lockPartner(tx, input.partnerId);
    await refuseUnknown(tx, input.partnerId, input.fees);
    await refuseHopeless(tx, partner.fee_mode, input.fees);
    await tx.execute('delete from partner_fees where partner_id = ?', [input.partnerId]);
    for (const fee of input.fees) {
      await tx.execute(
        `insert into partner_fees (id, partner_id, method, channel, organization_id, fixed, basis_points,
           provider_fixed, provider_basis_points) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          newId(),
          input.partnerId,
          fee.method,
          fee.channel,
          fee.organization_id,
          formatMoney(fee.fixed),
          fee.basis_points,
          formatMoney(fee.provider_fixed),
          fee.provider_basis_points,
        ],
      );
    }
    await recordAction(tx, input, ['RESOURCE_UPDATED', 'HIGH'], ['partner', input.partnerId], { fees: input.fees });
    return findFees(tx, input.partnerId);
  });
}

async function refuseUnknown(em: EntityManager, partnerId: string, fees: FeeRow[]): Promise<void> {
  const known = await em.execute<{ method: string; channel: string }[]>(
    `select method, channel_code as channel from payment_channels where method <> 'qris'
     union all select 'payout', bank_code from payout_banks`,
  );
  const organizations = await em.execute<{ id: string }[]>(
    `select organization_id as id from partners where id = ?
     union select organization_id from partner_organizations where partner_id = ? and revoked_at is null`,
    [partnerId, partnerId],
  );
  const seen = new Set<string>();
  for (const [index, { method, channel, organization_id }] of fees.entries()) {
    const place = `fees.${index}`;
    if (channel !== null && !known.some((row) => row.method === method && row.channel === channel)) {
      refuse('REQUEST_INVALID', `${place}.channel: ${method} has no ${channel}`);
    }
    // A payout is for the partner itself and names no organization.
    if (organization_id !== null && method === 'payout') {
      refuse('REQUEST_INVALID', `${place}.organization_id: a payout has no organization`);
    }
    if (organization_id !== null && !organizations.some(({ id }) => id === organization_id)) {
      refuse('REQUEST_INVALID', `${place}.organization_id: not linked to the partner`);
    }
    const subject = JSON.stringify([method, channel, organization_id]);
    if (seen.has(subject)) refuse('REQUEST_INVALID', 'another rule covers the same case', { field: place });
    seen.add(subject);
  }
}

/** Refuses a rule that no permitted amount of the method could satisfy, naming the rule or the field at fault. */
export async function refuseHopeless(em: EntityManager, mode: FeeMode, fees: FeeRow[], named?: string): Promise<void> {
  const channels = await em.execute<{ method: string; channel: string; most: Money }[]>(
    'select method, channel_code as channel, maximum_amount as most from payment_channels',
  );
  for (const [index, { method, channel, ...rule }] of fees.entries()) {
    // A payout's reservation has no maximum, so some of it can always reach the bank, unless the fee takes it all.
    const possible =
      method === 'payout'
        ? mode === 'ADDED' || rule.basis_points < 10_000
        : channels
            .filter((row) => row.method === method && (channel === null || row.channel === channel))
            .some(({ most }) => canCharge(mode, { ...rule, fixed: formatMoney(rule.fixed) }, most));
    if (!possible) {
      refuse('REQUEST_INVALID', `could never apply: no amount allowed for ${method} leaves room for this fee`, {
        field: named ?? `fees.${index}`,
      });
    }
  }
}
