import type { EntityManager } from '@mikro-orm/postgresql';
import { type PartnerActivity, refuseInactive } from '../../partners/inactive.ts';
import { refuse } from '../../shared/errors.ts';
import { addMoney, compareMoney, formatMoney, leftAfter, type Money } from '../../shared/money.ts';

export interface LimitUse<T> {
  maximum: T;
  used: T;
  remaining: T;
}

/** Each limit under its name, null if none is set; amounts in IDR with four decimals. */
export interface PayoutLimitsUse {
  max_payout_amount: LimitUse<Money> | null;
  max_daily_amount: LimitUse<Money> | null;
  max_hourly_count: LimitUse<number> | null;
}

/**
 * A partner's limits and balance for payouts at one moment. A bank's minimum and maximum are in `payout-bank.ts`;
 * withdrawals have their own limits (`withdrawals/withdrawal-headroom.ts`).
 */
export interface PayoutHeadroom {
  /** The status of the partner and of its organization. */
  activity: PartnerActivity;
  payoutsEnabled: boolean;
  limits: PayoutLimitsUse;
  available: Money;
  availableAccountId: string;
  reservedAccountId: string;
  /** The database's clock when read; the rolling windows end here. */
  at: Date;
}

interface HeadroomRow {
  status: PartnerActivity['status'];
  organization_status: PartnerActivity['organizationStatus'];
  payouts_enabled: boolean;
  max_payout_amount: Money | null;
  max_daily_amount: Money | null;
  max_hourly_count: number | null;
  available_account_id: string;
  reserved_account_id: string;
  available: Money;
  daily_amount: Money;
  hourly_count: number;
  at: string | Date;
}

const noMoney = formatMoney('0');

/**
 * Returns what a partner may pay out now. The daily amount includes every payout of the last 24 hours except failed
 * ones whose money did not leave. The hourly count includes every payout reserved in the last hour. Refunds to the
 * wallet that paid count toward neither. Exact only under the partner's lock.
 */
export async function readPayoutHeadroom(em: EntityManager, partnerId: string): Promise<PayoutHeadroom> {
  const [row] = await em.execute<HeadroomRow[]>(
    `select p.status, g.status as organization_status, p.payouts_enabled, p.max_payout_amount, p.max_daily_amount, p.max_hourly_count, p.available_account_id,
       p.reserved_account_id, account_balance(p.available_account_id)::numeric(20, 4)::text as available,
       day.amount::numeric(20, 4)::text as daily_amount, hour.payouts as hourly_count, clock.at
     from (select clock_timestamp() as at) clock cross join partners p join organizations g on g.id = p.organization_id
     cross join lateral reserved_since(p.id, clock.at - interval '24 hours') day
     cross join lateral reserved_since(p.id, clock.at - interval '1 hour') hour
     where p.id = ?`,
    [partnerId],
  );
  if (row === undefined) refuse('NOT_FOUND', 'The partner was not found');
  const { max_payout_amount, max_daily_amount, max_hourly_count, daily_amount, hourly_count } = row;
  return {
    activity: { status: row.status, organizationStatus: row.organization_status },
    payoutsEnabled: row.payouts_enabled,
    limits: {
      max_payout_amount:
        max_payout_amount === null ? null : { maximum: max_payout_amount, used: noMoney, remaining: max_payout_amount },
      max_daily_amount:
        max_daily_amount === null
          ? null
          : { maximum: max_daily_amount, used: daily_amount, remaining: leftAfter(max_daily_amount, daily_amount) },
      max_hourly_count:
        max_hourly_count === null
          ? null
          : {
              maximum: max_hourly_count,
              used: hourly_count,
              remaining: Math.max(0, max_hourly_count - hourly_count),
            },
    },
    available: row.available,
    availableAccountId: row.available_account_id,
    reservedAccountId: row.reserved_account_id,
    at: new Date(row.at),
  };
}

/** `readPayoutHeadroom`, exact until the transaction ends: locks the partner, and its organization's status. */
export async function lockPayoutHeadroom(tx: EntityManager, partnerId: string): Promise<PayoutHeadroom> {
  // Two statements, so that the second reads what earlier lock holders committed. A reservation queued for the
  // partner's row does not lock the organization's row yet, so a suspension waits only for the current one.
  await tx.execute(
    `select 1 from partners p join organizations o on o.id = p.organization_id where p.id = ?
     for no key update of p for share of o`,
    [partnerId],
  );
  return readPayoutHeadroom(tx, partnerId);
}

/**
 * Refuses a payout of `amount` that would reserve `reserved` (IDR, scale 4), checking in the order of docs/contract.md
 * 8: not active; suspended or without limits; beyond a limit; beyond the available balance.
 */
export function refuseBeyondHeadroom(
  headroom: PayoutHeadroom,
  { amount, reserved }: { amount: Money; reserved: Money },
): void {
  refuseInactive(headroom.activity);
  refuseBeyondLimits(headroom, { amount });
  refuseBeyondAvailable(headroom.available, reserved);
}

/**
 * `refuseBeyondHeadroom` for a batch: `largest` is its largest payout, `total` and `count` are over all payouts,
 * `reserved` is their total debit.
 */
export function refuseBatchBeyond(
  headroom: PayoutHeadroom,
  { largest, total, count, reserved }: { largest: Money; total: Money; count: number; reserved: Money },
): void {
  refuseInactive(headroom.activity);
  refuseBeyondLimits(headroom, { amount: largest, total, count });
  refuseBeyondAvailable(headroom.available, reserved);
}

/** `refuseBeyondHeadroom` for a refund; a refund to the wallet that paid is limited only by the available balance. */
export function refuseRefundBeyond(
  headroom: PayoutHeadroom,
  { amount, byTransfer }: { amount: Money; byTransfer: boolean },
): void {
  if (byTransfer) refuseBeyondLimits(headroom, { amount });
  refuseBeyondAvailable(headroom.available, amount);
}

/** Throws FUNDS_PAYOUT_SUSPENDED while transfers to banks are off, and FUNDS_LIMIT_EXCEEDED beyond a limit. */
function refuseBeyondLimits(
  { payoutsEnabled, limits }: PayoutHeadroom,
  { amount, total = amount, count = 1 }: { amount: Money; total?: Money; count?: number },
): void {
  if (!payoutsEnabled) refuse('FUNDS_PAYOUT_SUSPENDED', 'Payouts are off for this account');
  const { max_payout_amount: single, max_daily_amount: daily, max_hourly_count: hourly } = limits;
  if (single === null || daily === null || hourly === null) {
    refuse('FUNDS_PAYOUT_SUSPENDED', 'No payout limits are configured yet');
  }
  const exceeded = (limit: keyof PayoutLimitsUse, use: LimitUse<Money | number>, what: string): never =>
    refuse('FUNDS_LIMIT_EXCEEDED', what, { details: { limit, ...use } });
  if (compareMoney(amount, single.maximum) > 0) {
    exceeded('max_payout_amount', single, `A single payout is at most IDR ${single.maximum}`);
  }
  if (compareMoney(addMoney(daily.used, total), daily.maximum) > 0) {
    exceeded('max_daily_amount', daily, `IDR ${daily.remaining} of the 24-hour limit remains`);
  }
  if (hourly.remaining < count) {
    const limit = `limit of ${hourly.maximum} payouts`;
    const what = count === 1 ? `Hourly ${limit} reached` : `${hourly.remaining} of the hourly ${limit} remain`;
    exceeded('max_hourly_count', hourly, what);
  }
}

/** Throws FUNDS_INSUFFICIENT_BALANCE for more than the partner's available balance. */
function refuseBeyondAvailable(available: Money, required: Money): void {
  if (compareMoney(required, available) <= 0) return;
  refuse('FUNDS_INSUFFICIENT_BALANCE', `The available balance, IDR ${available}, does not cover IDR ${required}`, {
    details: { available, required },
  });
}
