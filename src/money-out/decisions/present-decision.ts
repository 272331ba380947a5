import { z } from 'zod';
import { amount, nonZeroMoneyString, prose, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { presentFields } from '../../platform/http/present-fields.ts';
import { longestNote } from '../../shared/plain-text.ts';
import type { Decision } from './decision.entity.ts';
import { decisionKinds, decisionLaw, type ProposedKind, payoutOutcomes } from './decision.ts';

const Side = z.record(z.string(), z.unknown());
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
    reason: z.string().nullable().describe('Why it was refused, or why it lapsed.'),
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
export const noteOfDecision = () => prose(longestNote, 3).describe('References to the evidence, never personal data.');

const note = noteOfDecision();
const complaint = (field: string, message: string) => ({ path: [field], message });
export const ProposalBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('settle_payout'), payout_id: uuid(), outcome: z.enum(payoutOutcomes), note }),
  z
    .strictObject({
      kind: z.literal('settle_receipt'),
      receipt_id: uuid(),
      action: z.enum(['credit', 'refund']),
      account_id: uuid().optional().describe('The account to credit; for `credit` only.'),
      provider_reference: text(255)
        .optional()
        .describe(
          'The unknown transfer by which the money was refunded, if any: our reference, or the provider’s id. The ' +
            'transfer is then in the books. For `refund` only.',
        ),
      note,
    })
    .refine(({ action, account_id: id }) => action === 'refund' || id, complaint('account_id', 'is required'))
    .refine(({ action, account_id: id }) => action === 'credit' || !id, complaint('account_id', 'is for a credit only'))
    .refine(
      ({ action, provider_reference: of }) => action === 'refund' || of === undefined,
      complaint('provider_reference', 'is for a refund only'),
    ),
  z.strictObject({ kind: z.literal('explain_difference'), reconciliation_id: uuid(), note }),
  z
    .strictObject({
      kind: z.literal('book_external'),
      amount: nonZeroMoneyString().describe(
        'IDR: above 0 for money received by the provider, below 0 for money that left it.',
      ),
      reference: text(64).describe(
        'The reference in the provider’s statement; for a transfer, the provider’s id. It can be booked only once.',
      ),
      account_id: uuid()
        .optional()
        .describe(
          'The account of an erased person to whom the platform paid out income that arrived after the erasure; ' +
            '`amount` below 0.',
        ),
      note,
    })
    .refine(
      ({ amount, account_id }) => account_id === undefined || amount.startsWith('-'),
      complaint('amount', 'is below 0 for money that left an account'),
    ),
  z
    .strictObject({
      kind: z.literal('book_transfer'),
      payout_id: uuid().optional().describe('A payout that failed here but that the provider made after all.'),
      provider_reference: text(255)
        .optional()
        .describe('For an unknown or second transfer: our reference, or the provider’s id.'),
      note,
    })
    .refine(
      ({ payout_id, provider_reference }) => (payout_id === undefined) !== (provider_reference === undefined),
      complaint('payout_id', 'or provider_reference is required, not both'),
    ),
  z.strictObject({
    kind: z.literal('erase_person'),
    user_id: uuid().describe('A person whose erasure nothing blocks: `POST /v1/users/:user_id/erasure`.'),
    note,
  }),
  z.strictObject({
    kind: z.literal('admit_approver'),
    user_id: uuid().describe(
      'A user with `approve-decision` whom neither of the two deciding people invited. Once admitted, the user may ' +
        'approve decisions.',
    ),
    note,
  }),
  z.strictObject({
    kind: z.literal('refund_donation'),
    donation_id: uuid().describe('A donation that its donor could currently refund: `POST /v1/donations/:id/refund`.'),
    note,
  }),
]);

/** The proposal without its note. */
export type ProposalOf<Kind extends ProposedKind> = Omit<Extract<z.infer<typeof ProposalBody>, { kind: Kind }>, 'note'>;
