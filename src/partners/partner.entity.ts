import { defineEntity, p } from '@mikro-orm/core';
import type { FeeMode, PartnerStatus } from './partner.ts';

const PartnerSchema = defineEntity({
  name: 'Partner',
  tableName: 'partners',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(200),
    organization_id: p.uuid(),
    status: p.text().$type<PartnerStatus>(),
    fee_mode: p.text().$type<FeeMode>(),
    settlement_delay_hours: p.integer(),
    payouts_enabled: p.boolean(),
    max_payout_amount: p.decimal().precision(20).scale(4).nullable(),
    max_daily_amount: p.decimal().precision(20).scale(4).nullable(),
    max_hourly_count: p.integer().nullable(),
    available_account_id: p.uuid(),
    pending_account_id: p.uuid(),
    reserved_account_id: p.uuid(),
    created_by: p.uuid().nullable(),
    /** When the last replay of its webhooks will be complete. */
    replayed_until: p.datetime().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** An integrator that collects and pays out. Its three payout limits are either all set or all null. */
export class Partner extends PartnerSchema.class {}
PartnerSchema.setClass(Partner);
