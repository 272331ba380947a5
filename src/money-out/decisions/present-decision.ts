import { z } from 'zod';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import type { Decision } from './decision.entity.ts';
import { decisionKinds, decisionLaw, payoutOutcomes } from './decision.ts';

const Side = z.record(z.string(), z.unknown());
/** A decision as every answer shows one. */
export const DecisionAnswer = z
  .object({
    id: uuid(),
    kind: z.enum(decisionKinds),
    status: z.enum(decisionLaw.statuses),
    payout_id: uuid().nullable(),
    outcome: z.enum(payoutOutcomes).nullable(),
    receipt_id: uuid().nullable(),
    action: z.enum(['credit', 'refund']).nullable(),
    account_id: uuid().nullable(),
    reconciliation_id: uuid().nullable(),
    amount: amount().nullable(),
    reference: z.string().nullable(),
    provider_reference: z.string().nullable(),
    withdrawal_id: uuid().nullable(),
    donation_id: uuid().nullable(),
    user_id: uuid().nullable(),
    note: z.string(),
    evidence: z.object({ provider: Side.nullable(), books: Side }),
    reason: z.string().nullable().describe('Why it was refused or has lapsed.'),
    proposed_by: uuid(),
    approved_by: z
      .union([uuid().nullable(), z.array(uuid())])
      .describe('For `disburse` a list of two people; otherwise one person, or null.'),
    rejected_by: uuid().nullable(),
    created_at: timestamp(),
    approved_at: timestamp().nullable(),
    ended_at: timestamp().nullable(),
  })
  .meta({ id: 'Decision' });

export function presentDecision(decision: Decision): z.input<typeof DecisionAnswer> {
  const { id, kind, status, note, evidence, proposed_by } = decision;
  return {
    id,
    kind,
    status,
    payout_id: decision.payout_id ?? null,
    outcome: decision.outcome ?? null,
    receipt_id: decision.receipt_id ?? null,
    action: decision.action ?? null,
    account_id: decision.account_id ?? null,
    reconciliation_id: decision.reconciliation_id ?? null,
    amount: decision.amount ?? null,
    reference: decision.reference ?? null,
    provider_reference: decision.provider_reference ?? null,
    withdrawal_id: decision.withdrawal_id ?? null,
    donation_id: decision.donation_id ?? null,
    user_id: decision.user_id ?? null,
    note,
    evidence: { provider: evidence.provider && { ...evidence.provider }, books: { ...evidence.books } },
    reason: decision.reason ?? null,
    proposed_by,
    approved_by:
      kind === 'disburse'
        ? [decision.first_approved_by, decision.approved_by].filter((id) => typeof id === 'string')
        : (decision.approved_by ?? null),
    rejected_by: decision.rejected_by ?? null,
    created_at: decision.created_at.toISOString(),
    approved_at: decision.approved_at?.toISOString() ?? null,
    ended_at: decision.ended_at?.toISOString() ?? null,
  };
}
