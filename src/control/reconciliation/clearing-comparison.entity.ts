import { defineEntity, p } from '@mikro-orm/core';

const ClearingComparisonSchema = defineEntity({
  name: 'ClearingComparison',
  tableName: 'clearing_comparisons',
  properties: {
    /** `YYYY-MM-DD`, in UTC+7. */
    day: p.date().primary(),
    measured_at: p.datetime(),
    provider_balance: p.decimal().precision(20).scale(4),
    /** The balance at the provider in our books. */
    clearing_balance: p.decimal().precision(20).scale(4),
    /** The last earlier day that agreed, and how much both balances changed since; null on the first day. */
    agreed_day: p.date().nullable(),
    provider_change: p.decimal().precision(20).scale(4).nullable(),
    clearing_change: p.decimal().precision(20).scale(4).nullable(),
    /** Money in transit at that moment, which explains a surplus (received) or a shortfall (spent) at the provider. */
    received_under_way: p.decimal().precision(20).scale(4),
    spent_under_way: p.decimal().precision(20).scale(4),
    /** The range of the provider's balance minus ours, from all days that agreed so far. */
    offset_low: p.decimal().precision(20).scale(4),
    offset_high: p.decimal().precision(20).scale(4),
    /** The unexplained difference: above 0 the provider has more. */
    difference: p.decimal().precision(20).scale(4),
    agreed: p.boolean(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

/** A day's comparison of gateway clearing with the provider's balance. */
export class ClearingComparison extends ClearingComparisonSchema.class {}
ClearingComparisonSchema.setClass(ClearingComparison);
