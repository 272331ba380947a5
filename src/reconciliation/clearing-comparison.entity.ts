import { defineEntity, p } from '@mikro-orm/core';

const ClearingComparisonSchema = defineEntity({
  name: 'ClearingComparison',
  tableName: 'clearing_comparisons',
  properties: {
    /** `YYYY-MM-DD`, in UTC+7. */
    day: p.date().primary(),
    measured_at: p.datetime(),
    provider_balance: p.decimal().precision(20).scale(4),
    /** What our books say that the provider holds. */
    clearing_balance: p.decimal().precision(20).scale(4),
    /** The last day before that agreed, and by how much both changed since; null on the first day. */
    agreed_day: p.date().nullable(),
    provider_change: p.decimal().precision(20).scale(4).nullable(),
    clearing_change: p.decimal().precision(20).scale(4).nullable(),
    /** Under way at that moment: explains that the provider has more, or less. */
    received_under_way: p.decimal().precision(20).scale(4),
    spent_under_way: p.decimal().precision(20).scale(4),
    /** Between which amounts the provider's balance less ours lies, by all days that agreed so far. */
    offset_low: p.decimal().precision(20).scale(4),
    offset_high: p.decimal().precision(20).scale(4),
    /** What nothing explains: above 0 the provider has more. */
    difference: p.decimal().precision(20).scale(4),
    agreed: p.boolean(),
    created_at: p.datetime().onCreate(() => new Date()),
    updated_at: p.datetime().onCreate(() => new Date()),
  },
});

/** One day's comparison of gateway clearing with the provider's balance. */
export class ClearingComparison extends ClearingComparisonSchema.class {}
ClearingComparisonSchema.setClass(ClearingComparison);
