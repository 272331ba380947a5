import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { approveDecision, proposeDecision, rejectDecision } from './decide.ts';
import type { Decision } from './decision.entity.ts';
import { decisionKinds, decisionLaw } from './decision.ts';
import { findDecisions, getDecision } from './find-decisions.ts';
import type { DecisionPorts } from './handling.ts';
import { DecisionAnswer, ProposalBody, presentDecision as present } from './present-decision.ts';

interface Ports extends DecisionPorts {
  config: Pick<Config, 'NODE_ENV'>;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/decisions',
  tag: 'Operations',
  description: "Two people decide what the provider's status does not prove: one proposes, another approves.",
});

const operators = { userTypes: ['platform'], scope: 'all' } as const;
const proposes = allow('propose-decision', operators);
const approves = allow('approve-decision', operators);
const reads = allow(['propose-decision', 'approve-decision'], operators);

const message = z.string();
const messageOf = ({ status, first_approved_by: first }: Decision): string =>
  status === 'pending' && first
    ? 'Decision approved; another person must also approve it'
    : `Decision ${status === 'pending' ? 'proposed' : status.replace('_', ' ')}`;
const answer = z.object({ message, data: DecisionAnswer });
const params = z.object({ id: uuid() });

routes.post(
  '/',
  {
    summary: 'Propose a decision',
    description:
      'The decision stores the current evidence of provider and books, and is `pending` for up to 24 hours until ' +
      'another person approves it. A `settle_payout` that the provider’s final status proves, and ' +
      '`explain_difference`, need no second person: they are `carried_out` in the response. 400 for a decision that ' +
      'cannot currently be carried out.',
    access: proposes,
    body: ProposalBody,
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
      payout_id: uuid().optional().meta({ description: 'Decisions about this payout.' }),
      receipt_id: uuid().optional().meta({ description: 'Decisions about this money in suspense.' }),
    }),
    answers: { 200: z.object({ message, data: z.object({ items: z.array(DecisionAnswer), ...pageFields }) }) },
  },
  async ({ em, query }) => {
    const { status, kind, payout_id, receipt_id, ...window } = query;
    const { items, ...listed } = await findDecisions(em, { status, kind, payout_id, receipt_id }, window);
    return { message: 'Decisions found', data: { items: items.map(present), ...presentPage(query, listed) } };
  },
);

routes.get(
  '/:id',
  { summary: 'Read a decision', access: reads, params, answers: { 200: answer }, refusals: [404] },
  async ({ em, params: { id } }) => ({ message: 'Decision found', data: present(await getDecision(em, id)) }),
);

const second = { access: approves, params, answers: { 200: answer }, refusals: [404] } as const;
const byAnother =
  'The caller must not be the proposer (403). A decision that is too old, or whose payout or receipt has changed, ' +
  'is returned as `lapsed`; one that is already closed is a 400.';

routes.post(
  '/:id/approve',
  {
    summary: 'Approve a decision and carry it out',
    description: `Returns the outcome: \`carried_out\`, or \`refused\` with the reason. A \`disburse\` needs two approvals: after the first it is still \`pending\`. Outside development the caller must have logged in with a second factor (403). ${byAnother}`,
    ...second,
  },
  async ({ em, deps, caller, params: { id: decisionId }, requestId }) => {
    const needsSecondFactor = deps.config.NODE_ENV !== 'development';
    const decision = await approveDecision(em, deps, { caller, decisionId, needsSecondFactor, requestId });
    return { message: messageOf(decision), data: present(decision) };
  },
);

routes.post(
  '/:id/reject',
  { summary: 'Reject a decision', description: byAnother, ...second },
  async ({ em, deps, caller, params: { id: decisionId }, requestId }) => {
    const decision = await rejectDecision(em, deps, { caller, decisionId, requestId });
    return { message: messageOf(decision), data: present(decision) };
  },
);

export const decisionsRoutes = routes;
