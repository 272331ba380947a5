import { defineEntity, p } from '@mikro-orm/core';
import type { DecisionKind, DecisionStatus, Evidence } from './decision.ts';

const DecisionSchema = defineEntity({
  name: 'Decision',
  tableName: 'decisions',
  properties: {
    id: p.uuid().primary(),
    kind: p.text().$type<DecisionKind>(),
    status: p.text().$type<DecisionStatus>().default('pending'),
    payout_id: p.uuid().nullable(),
    outcome: p.text().$type<'succeeded' | 'failed'>().nullable(),
    receipt_id: p.uuid().nullable(),
    action: p.text().$type<'credit' | 'refund'>().nullable(),
    account_id: p.uuid().nullable(),
    reconciliation_id: p.uuid().nullable(),
    amount: p.decimal().precision(20).scale(4).nullable(),
    reference: p.string().length(64).nullable(),
    provider_reference: p.string().length(255).nullable(),
    withdrawal_id: p.uuid().nullable(),
    donation_id: p.uuid().nullable(),
    user_id: p.uuid().nullable(),
    note: p.string().length(300),
    evidence: p.json().$type<Evidence>(),
    /** Why it was refused, or why it lapsed. */
    reason: p.text().nullable(),
    proposed_by: p.uuid(),
    /** The first of the two approvers of a disbursement; `approved_by` is the second. */
    first_approved_by: p.uuid().nullable(),
    approved_by: p.uuid().nullable(),
    rejected_by: p.uuid().nullable(),
    created_at: p.datetime(),
    approved_at: p.datetime().nullable(),
    ended_at: p.datetime().nullable(),
  },
});

/** A decision that one operator proposed and another approves; see `decision.ts`. */
export class Decision extends DecisionSchema.class {}
DecisionSchema.setClass(Decision);
