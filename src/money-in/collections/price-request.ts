import type { EntityManager } from '@mikro-orm/postgresql';
import { getBankOfCheck } from '../../money-out/account-checks/check-bank-account.ts';
import { pricePayout } from '../../money-out/payouts/price-payout.ts';
import {
  complainOfFee,
  type FeeRule,
  freeOfCharge,
  isWorthwhile,
  leastCollection,
  type Price,
  priceCollection,
} from '../../partners/fee.ts';
import { refuseClosed, refuseNotLinked } from '../../partners/inactive.ts';
import type { FeeMethod, FeeMode } from '../../partners/partner.ts';
import { executePrepared } from '../../platform/database/prepared-statements.ts';
import type { PaymentMethodKind } from '../../platform/gateway/gateway.ts';
import { aboutField, refuseField } from '../../shared/errors.ts';
import { indonesianMobileOf } from '../../shared/mobile-number.ts';
import { compareMoney, feeOf, formatMoney, isWholeRupiah, type Money } from '../../shared/money.ts';
import type { OrganizationStatus } from '../../shared/organization.ts';

export interface PriceQuestion {
  partnerId: string;
  method: PaymentMethodKind;
  channel?: string | undefined;
  amount: Money;
  organizationId?: string | undefined;
}

export interface PricedRequest extends Price {
  channelId: number;
  feeMode: FeeMode;
  /** The provider's fee; internal. */
  providerFee: Money;
}

interface Context {
  fee_mode: FeeMode;
  channel_id: number | null;
  minimum_amount: Money;
  maximum_amount: Money;
  needs_phone: boolean;
  linked: boolean;
  /** The named organization's status; null if none is named, or the partner's own, whose status the partner shares. */
  organization_status: OrganizationStatus | null;
  fixed: Money | null;
  basis_points: number;
  provider_fixed: Money;
  provider_basis_points: number;
}

/**
 * The price of a collection, from the channel table and the most specific fee rule (organization before channel before
 * method). Refuses a channel that does not exist, an amount outside its limits, a fee that would need more than four
 * decimals, and a net that is not positive; for a `creation` also a gross that is not whole rupiah, and a missing or
 * non-Indonesian mobile number if the channel needs one. Last, refuses an organization that is not linked, and for a
 * `creation` an inactive or suspended one.
 */
export async function priceRequest(
  em: EntityManager,
  question: PriceQuestion,
  creation: { customerPhone: string | undefined } | null,
): Promise<PricedRequest> {
  const { channel, amount } = question;
  refuseMisplacedChannel(question);
  const context = await readContext(em, question);
  if (context?.channel_id == null) return refuseUnknownChannel(em, question);
  const takes = `the channel accepts IDR ${context.minimum_amount} to ${context.maximum_amount}`;
  if (compareMoney(amount, context.maximum_amount) > 0) refuseField('amount', takes);
  const rule: FeeRule = context.fixed === null ? freeOfCharge : { ...context, fixed: context.fixed };
  const price = aboutField('amount', () => priceCollection(context.fee_mode, formatMoney(amount), rule));
  if (!isWorthwhile(price)) {
    refuseField('amount', complainOfFee(price.fee, leastCollection(context.fee_mode, rule, context.minimum_amount)));
  }
  if (creation !== null && !isWholeRupiah(price.gross)) {
    refuseField('amount', `the gross, ${price.gross}, is not a whole IDR amount`);
  }
  if (compareMoney(price.gross, context.minimum_amount) < 0 || compareMoney(price.gross, context.maximum_amount) > 0) {
    refuseField('amount', `${takes}, and the customer would pay IDR ${price.gross}`);
  }
  if (creation !== null && context.needs_phone) requireMobileNumber(creation.customerPhone, channel);
  if (!context.linked) refuseNotLinked();
  if (creation !== null) refuseClosed(context.organization_status);
  return {
    ...price,
    channelId: context.channel_id,
    feeMode: context.fee_mode,
    providerFee: isWholeRupiah(price.gross)
      ? feeOf(price.gross, rule.provider_fixed, rule.provider_basis_points)
      : '0.0000',
  };
}

type ChannelQuestion = Pick<PriceQuestion, 'method' | 'channel'>;

/** Refuses a channel for QRIS, and a missing channel for other methods. */
export function refuseMisplacedChannel({ method, channel }: ChannelQuestion): void {
  if (method === 'qris' && channel !== undefined) refuseField('channel', 'must be left out for qris');
  if (method !== 'qris' && channel === undefined) refuseField('channel', `is required for ${method}`);
}

/** Refuses a channel that does not exist; suggests the likely one or lists all. */
export async function refuseUnknownChannel(
  em: EntityManager,
  { method, channel = '' }: ChannelQuestion,
): Promise<never> {
  const open = await em.execute<{ code: string }[]>(
    'select channel_code as code from payment_channels where method = ? and active order by channel_code',
    [method],
  );
  const meant = open.filter(({ code }) => code.toLowerCase() === channel.trim().toLowerCase());
  const codes = (meant.length > 0 ? meant : open).map(({ code }) => code).join(', ');
  const help = meant.length > 0 ? `write ${codes}` : `there are ${codes}`;
  return refuseField('channel', `there is no ${method} ${channel}`.trimEnd() + (codes === '' ? '' : `: ${help}`));
}

function requireMobileNumber(phone: string | undefined, channel: string | undefined): void {
  if (phone === undefined) refuseField('customer_phone', `is required for ${channel}`);
  if (indonesianMobileOf(phone) === null) {
    refuseField('customer_phone', `${channel} needs an Indonesian mobile number (08..., 628... or +628...)`);
  }
}

async function readContext(
  em: EntityManager,
  {
    partnerId,
    method,
    channel,
    organizationId = null,
  }: Omit<PriceQuestion, 'organizationId'> & { organizationId?: string | null | undefined },
): Promise<Context | undefined> {
  const [context] = await executePrepared<Context>(
    em,
    `select p.fee_mode, c.id as channel_id, c.minimum_amount, c.maximum_amount, c.needs_phone,
       (?::uuid is null or p.organization_id = ?::uuid or exists (select from partner_organizations o
         where o.partner_id = p.id and o.organization_id = ?::uuid and o.revoked_at is null)) as linked,
       (select status from organizations where id = ?::uuid and id <> p.organization_id) as organization_status,
       f.fixed, f.basis_points, f.provider_fixed, f.provider_basis_points
     from partners p
     left join payment_channels c on c.method = ? and c.channel_code = ? and c.active
     left join lateral (select * from partner_fees f where f.partner_id = p.id and f.method = ?
         and (f.channel is null or f.channel = c.channel_code)
         and (f.organization_id is null or f.organization_id = ?::uuid)
       order by f.organization_id is null, f.channel is null limit 1) f on true
     where p.id = ?`,
    [
      organizationId,
      organizationId,
      organizationId,
      organizationId,
      method,
      method === 'qris' ? 'QRIS' : channel,
      method,
      organizationId,
      partnerId,
    ],
  );
  return context;
}

export interface Quoted {
  partnerId: string;
  method: FeeMethod;
  amount: Money;
  channel?: string | undefined;
  bankCode?: string | undefined;
  /** A check of the payout's bank account. */
  checkId?: string | undefined;
  organizationId?: string | undefined;
}

/**
 * The current price of a payment of this amount (IDR), or of a payout to this bank. No side effects. Refuses what the
 * creation would refuse about these fields, except a payment whose gross is not whole rupiah.
 */
export async function quote(em: EntityManager, { bankCode, checkId, ...asked }: Quoted): Promise<Price> {
  const { method, partnerId } = asked;
  if (method !== 'payout') {
    if (bankCode !== undefined) refuseField('bank_code', 'is for payouts only');
    if (checkId !== undefined) refuseField('bank_account_check_id', 'is for payouts only');
    return priceRequest(em, { ...asked, method }, null);
  }
  const checked = checkId === undefined ? undefined : await getBankOfCheck(em, { partnerId, checkId });
  const bank = bankCode ?? checked;
  if (bank === undefined) refuseField('bank_code', 'is required for payout');
  if (checked !== undefined && bank !== checked) refuseField('bank_code', `is ${checked} in the check`);
  if (asked.channel !== undefined) refuseField('channel', 'must be left out for payout');
  if (asked.organizationId !== undefined) refuseField('organization_id', 'must be left out for payout');
  return pricePayout(em, { partnerId, bankCode: bank, amount: asked.amount });
}
