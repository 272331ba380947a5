import { z } from 'zod';
import { amount, prose, timestamp, uuid } from '../../platform/http/fields.ts';
import { presentFields } from '../../platform/http/present-fields.ts';
import { longestNote } from '../../shared/plain-text.ts';
import type { Decision } from './decision.entity.ts';
import { decisionKinds, decisionLaw, payoutOutcomes, shortestNote } from './decision.ts';

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

export const presentDecision = ({ evidence, ...decision }: Decision): z.input<typeof DecisionAnswer> =>
  presentFields(DecisionAnswer.shape, {
    ...decision,
    evidence: { provider: evidence.provider && { ...evidence.provider }, books: { ...evidence.books } },
    approved_by:
      decision.kind === 'disburse'
        ? [decision.first_approved_by, decision.approved_by].filter((id) => typeof id === 'string')
        : (decision.approved_by ?? null),
  });

/** The note of a decision, as requests carry it. */
export const noteOfDecision = () =>
  prose(longestNote, shortestNote).describe('References to the evidence, never personal data.');
