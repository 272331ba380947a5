import { defineEntity, p } from '@mikro-orm/core';
import type { CauseOwnerType, CauseStatus } from './cause.ts';

const CauseSchema = defineEntity({
  name: 'Cause',
  tableName: 'charitable_causes',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(200),
    description: p.text(),
    target_amount: p.decimal().precision(20).scale(4),
    currency: p.character().length(3).default('IDR'),
    location: p.string().length(255).nullable(),
    regulations: p.text(),
    benefit: p.text(),
    owner_type: p.text().$type<CauseOwnerType>(),
    organization_id: p.uuid().nullable(),
    account_id: p.uuid(),
    status: p.text().$type<CauseStatus>(),
    /** The cause's status before the platform stopped it; null unless stopped. */
    stopped_from: p.text().$type<CauseStatus>().nullable(),
    created_by: p.uuid(),
    approved_by: p.uuid().nullable(),
    approved_at: p.datetime().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A charitable cause. No column here holds the amount received: `cause_current_amount(id)` sums `cause_totals`.
 */
export class Cause extends CauseSchema.class {}
CauseSchema.setClass(Cause);
