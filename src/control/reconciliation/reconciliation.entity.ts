import { defineEntity, p } from '@mikro-orm/core';
import type { DifferenceKind, ReconciledResource, ReconciliationState, Side } from './reconciliation.ts';

const ReconciliationSchema = defineEntity({
  name: 'Reconciliation',
  tableName: 'reconciliations',
  properties: {
    id: p.uuid().primary(),
    provider: p.text().default('xendit'),
    /** `YYYY-MM-DD`, in UTC+7. */
    day: p.date(),
    resource_type: p.text().$type<ReconciledResource>(),
    subject: p.text(),
    resource_id: p.uuid().nullable(),
    reference: p.text(),
    ours: p.json().$type<Side>().nullable(),
    theirs: p.json().$type<Side>().nullable(),
    kind: p.text().$type<DifferenceKind>(),
    state: p.text().$type<ReconciliationState>(),
    note: p.string().length(300).nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    /** When a comparison last found the difference. */
    met_at: p.datetime(),
  },
});

/** A difference between our books and the provider's, of one day. */
export class Reconciliation extends ReconciliationSchema.class {}
ReconciliationSchema.setClass(Reconciliation);
