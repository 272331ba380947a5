import { z } from 'zod';
import { allow } from '../http/access.ts';
import { created } from '../http/answer.ts';
import { amount, nonZeroMoneyString, text, timestamp, uuid } from '../http/fields.ts';
import { listQuery, pageFields, presentPage } from '../http/paging.ts';
import { createRouteGroup } from '../http/route-group.ts';
import { payoutOutcomes } from '../payouts/payout.ts';
import { longestNote } from '../shared/note.ts';
import { approveDecision, rejectDecision } from './approve-decision.ts';
import type { Decision } from './decision.entity.ts';
import { decisionKinds, decisionLaw, longestExternalReference, shortestNote } from './decision.ts';
import { findDecisions, getDecision } from './find-decisions.ts';
import { proposeDecision } from './propose-decision.ts';

const routes = createRouteGroup({
  prefix: '/v1/decisions',
  tag: 'Operations',
  description: "Two people decide what the provider's word does not prove: one proposes, another approves.",
});

const operators = { userTypes: ['platform'], scope: 'all' } as const;
const proposes = allow('propose-decision', operators);
const approves = allow('approve-decision', operators);
const reads = allow(['propose-decision', 'approve-decision'], operators);

const note = text(longestNote, shortestNote).describe('References to the evidence, never personal data.');
const Body = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('settle_payout'), payout_id: uuid(), outcome: z.enum(payoutOutcomes), note }),
  z
    .strictObject({
      kind: z.literal('settle_receipt'),
      receipt_id: uuid(),
      action: z.enum(['credit', 'refund']),
      account_id: uuid().optional().describe('The account that is credited; for `credit` only.'),
      note,
    })
    .superRefine(({ action, account_id }, ctx) => {
      if (action === 'credit' && account_id === undefined) {
        ctx.addIssue({ code: 'custom', path: ['account_id'], message: 'is required' });
      }
      if (action === 'refund' && account_id !== undefined) {
        ctx.addIssue({ code: 'custom', path: ['account_id'], message: 'is for a credit only' });
      }
    }),
  z.strictObject({ kind: z.literal('explain_difference'), reconciliation_id: uuid(), note }),
  z.strictObject({
    kind: z.literal('book_external'),
    amount: nonZeroMoneyString().describe(
      'IDR: above 0 for money that came to the provider, below 0 for money that left it.',
    ),
    reference: text(longestExternalReference).describe('The reference in the provider’s statement; booked once.'),
    note,
  }),
  z.strictObject({
    kind: z.literal('refund_donation'),
    donation_id: uuid().describe('One that its donor could have refunded now: `POST /v1/donations/:id/refund`.'),
    note,
  }),
]);

const Side = z.record(z.string(), z.unknown());
const DecisionAnswer = z
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
    withdrawal_id: uuid().nullable(),
    donation_id: uuid().nullable(),
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

function present(decision: Decision): z.input<typeof DecisionAnswer> {
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
    withdrawal_id: decision.withdrawal_id ?? null,
    donation_id: decision.donation_id ?? null,
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

const message = z.string();
/** The message about a decision's state. */
const messageOf = ({ status, first_approved_by: first }: Decision): string =>
  status === 'pending' && first
    ? 'Decision approved; another person has to approve it too'
    : `Decision ${status === 'pending' ? 'proposed' : status.replace('_', ' ')}`;
const answer = z.object({ message, data: DecisionAnswer });
const params = z.object({ id: uuid() });

routes.post(
  '/',
  {
    summary: 'Propose a decision',
    description:
      'It waits, `pending`, for the approval of another person for 24 hours, with what provider and books say of it now. ' +
      '`settle_payout` that a final word of the provider proves, and `explain_difference`, need no second person: they are ' +
      '`carried_out` in the answer. 400 for what cannot be carried out as things are.',
    access: proposes,
    body: Body,
    answers: { 201: answer },
    refusals: [404],
  },
  async ({ em, deps, caller, body, requestId }) => {
    const { note: why, ...proposal } = body;
    const decision = await proposeDecision(em, deps, { caller, proposal, note: why, requestId });
    return created({ message: messageOf(decision), data: present(decision) });
  },
);

routes.get(
  '/',
  {
    summary: 'List decisions, newest first',
    access: reads,
    query: listQuery().extend({
      status: z.enum(decisionLaw.statuses).optional(),
      kind: z.enum(decisionKinds).optional(),
    }),
    answers: { 200: z.object({ message, data: z.object({ items: z.array(DecisionAnswer), ...pageFields }) }) },
  },
  async ({ em, query }) => {
    const { status, kind, ...window } = query;
    const { items, ...listed } = await findDecisions(em, { status, kind }, window);
    return { message: 'Decisions found', data: { items: items.map(present), ...presentPage(query, listed) } };
  },
);

routes.get(
  '/:id',
  { summary: 'Read a decision', access: reads, params, answers: { 200: answer }, refusals: [404] },
  async ({ em, params: { id } }) => ({ message: 'Decision found', data: present(await getDecision(em, id)) }),
);

const byAnother =
  'By another person than the one who proposed it (403). One that is too old, or whose payout or receipt has moved, ' +
  'answers `lapsed`; one that has ended is a 400.';

routes.post(
  '/:id/approve',
  {
    summary: 'Approve a decision, and have it carried out',
    description: `Answers what became of it: \`carried_out\`, or \`refused\` with the reason. A \`disburse\` takes two people: the first approval answers \`pending\`. Outside development it needs a login with a second factor (403). ${byAnother}`,
    access: approves,
    params,
    answers: { 200: answer },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id: decisionId }, requestId }) => {
    const needsSecondFactor = deps.config.NODE_ENV !== 'development';
    const decision = await approveDecision(em, deps, { caller, decisionId, needsSecondFactor, requestId });
    return { message: messageOf(decision), data: present(decision) };
  },
);

routes.post(
  '/:id/reject',
  {
    summary: 'Reject a decision',
    description: byAnother,
    access: approves,
    params,
    answers: { 200: answer },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id: decisionId }, requestId }) => {
    const decision = await rejectDecision(em, deps, { caller, decisionId, requestId });
    return { message: messageOf(decision), data: present(decision) };
  },
);

export const decisionsRoutes = routes;
