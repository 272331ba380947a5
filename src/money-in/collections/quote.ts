import type { EntityManager } from '@mikro-orm/postgresql';
import { pricePayout } from '../../money-out/payouts/price-payout.ts';
import type { Price } from '../../partners/fee.ts';
import type { FeeMethod } from '../../partners/partner.ts';
import type { Money } from '../../shared/money.ts';
import { refuseField } from '../../shared/refuse-field.ts';
import { priceRequest } from './price-request.ts';

export interface Quoted {
  partnerId: string;
  method: FeeMethod;
  amount: Money;
  channel?: string | undefined;
  bankCode?: string | undefined;
  organizationId?: string | undefined;
}

/**
 * The price of a payment of this amount (IDR) now, or of a payout to this bank; no side effects. Refuses what the
 * creation would refuse of these fields, except a payment whose gross is not whole rupiah.
 */
export function quote(em: EntityManager, { bankCode, ...asked }: Quoted): Promise<Price> {
  const { method } = asked;
  if (method !== 'payout') {
    if (bankCode !== undefined) refuseField('bank_code', 'is for payouts only');
    return priceRequest(em, { ...asked, method }, null);
  }
  if (bankCode === undefined) refuseField('bank_code', 'is required for payout');
  if (asked.channel !== undefined) refuseField('channel', 'must be left out for payout');
  if (asked.organizationId !== undefined) refuseField('organization_id', 'must be left out for payout');
  return pricePayout(em, { partnerId: asked.partnerId, bankCode, amount: asked.amount });
}
