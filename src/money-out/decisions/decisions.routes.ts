import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { nonZeroMoneyString, text, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { approveDecision, rejectDecision } from './approve-decision.ts';
import type { Decision } from './decision.entity.ts';
import { decisionKinds, decisionLaw, longestExternalReference, payoutOutcomes } from './decision.ts';
import { findDecisions, getDecision } from './find-decisions.ts';
import type { DecisionPorts } from './handling.ts';
import { DecisionAnswer, noteOfDecision, presentDecision as present } from './present-decision.ts';
import { proposeDecision } from './propose-decision.ts';

interface Ports extends DecisionPorts {
  config: Pick<Config, 'NODE_ENV'>;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/decisions',
  tag: 'Operations',
  description: "Two people decide what the provider's word does not prove: one proposes, another approves.",
});

const operators = { userTypes: ['platform'], scope: 'all' } as const;
const proposes = allow('propose-decision', operators);
const approves = allow('approve-decision', operators);
const reads = allow(['propose-decision', 'approve-decision'], operators);

const note = noteOfDecision();
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
  z
    .strictObject({
      kind: z.literal('book_external'),
      amount: nonZeroMoneyString().describe(
        'IDR: above 0 for money that came to the provider, below 0 for money that left it.',
      ),
      reference: text(longestExternalReference).describe('The reference in the provider’s statement; booked once.'),
      account_id: uuid()
        .optional()
        .describe('An account of an erased person, to whom the platform paid what had come to it; `amount` below 0.'),
      note,
    })
    .superRefine(({ amount, account_id }, ctx) => {
      if (account_id !== undefined && !amount.startsWith('-')) {
        ctx.addIssue({ code: 'custom', path: ['amount'], message: 'is below 0 for money that left an account' });
      }
    }),
  z
    .strictObject({
      kind: z.literal('book_transfer'),
      payout_id: uuid().optional().describe('One that failed here and that the provider made after all.'),
      provider_reference: text(255)
        .optional()
        .describe('Of a transfer that nobody knows, or that is a second one: our reference, or the provider’s id.'),
      note,
    })
    .superRefine(({ payout_id, provider_reference }, ctx) => {
      if ((payout_id === undefined) === (provider_reference === undefined)) {
        ctx.addIssue({ code: 'custom', path: ['payout_id'], message: 'or provider_reference is required, not both' });
      }
    }),
  z.strictObject({
    kind: z.literal('erase_person'),
    user_id: uuid().describe('Whom nothing keeps: `POST /v1/users/:user_id/erasure`.'),
    note,
  }),
  z.strictObject({
    kind: z.literal('admit_approver'),
    user_id: uuid().describe(
      'A user with `approve-decision`, invited by neither of the two who admit them: from then on they may approve.',
    ),
    note,
  }),
  z.strictObject({
    kind: z.literal('refund_donation'),
    donation_id: uuid().describe('One that its donor could have refunded now: `POST /v1/donations/:id/refund`.'),
    note,
  }),
]);

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
      payout_id: uuid().optional().meta({ description: 'About this payout, settled or booked.' }),
    }),
    answers: { 200: z.object({ message, data: z.object({ items: z.array(DecisionAnswer), ...pageFields }) }) },
  },
  async ({ em, query }) => {
    const { status, kind, payout_id, ...window } = query;
    const { items, ...listed } = await findDecisions(em, { status, kind, payout_id }, window);
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
