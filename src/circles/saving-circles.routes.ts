import { z } from 'zod';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { allow } from '../platform/http/access.ts';
import { created } from '../platform/http/answer.ts';
import { isMobileClient } from '../platform/http/client-type.ts';
import { uuid } from '../platform/http/fields.ts';
import { pageFields, presentPage } from '../platform/http/paging.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import { cancelCircle, deleteCircle } from './cancel-circle.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { CircleChangeBody, CircleQuery, NewCircleBody } from './circle-shape.ts';
import { createCircle } from './create-circle.ts';
import { describeCircle, findDraw, findSettlement } from './describe-circle.ts';
import { getVisibleCircle } from './find-circle.ts';
import { listCircles } from './list-circles.ts';
import {
  CircleAnswer,
  CircleDetailAnswer,
  circleFields,
  DrawAnswer,
  ListedCircleAnswer,
  presentCircle,
  SettlementAnswer,
  summaryFields,
} from './present-circle.ts';
import { summarizeCircles } from './summarize-circles.ts';
import { updateCircle } from './update-circle.ts';

const message = z.string();
const params = z.object({ id: uuid() });
interface Ports {
  sealer: Sealer;
  workflows: CircleWorkflows;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/saving-circles',
  tag: 'Saving circles',
  description: 'Rotating savings: every member contributes each round, and one of them receives the pot.',
});

routes.post(
  '/',
  {
    summary: 'Create a saving circle',
    description:
      'An individual owns their circle; one created by an organization admin, or by platform for an account of an ' +
      'organization, belongs to the organization. The creator is not a member before joining. Without `capacity` it has up ' +
      'to 100 members. On its start date it starts automatically, or is cancelled if it has fewer than two members; ' +
      'a circle that starts today waits for its second member until the end of the day (UTC+7).',
    access: allow('create-saving-circle', { scope: 'for the caller; for an organization by its admins and platform' }),
    body: NewCircleBody,
    answers: { 201: z.object({ message, ...circleFields }) },
    refusals: [404],
  },
  async ({ em, deps, caller, body, requestId }) => {
    const circle = await createCircle(em, deps, { caller, circle: body, requestId });
    return created({ message: 'Saving circle created', ...presentCircle(circle) });
  },
);

routes.get(
  '/',
  {
    summary: 'List saving circles',
    description:
      'Individuals see the circles that they created or joined, and new ones to which they are invited. With ' +
      '`organization_id` an organization admin sees another organization’s public circles, an individual those ' +
      'that their own organization shows (403 for another).',
    access: allow('read-saving-circle', { scope: "own; the organization's for its admins; all for platform" }),
    query: CircleQuery,
    answers: { 200: z.object({ message, saving_circles: z.array(ListedCircleAnswer), ...pageFields }) },
    refusals: [404],
  },
  async ({ em, caller, query }) => {
    const { circles, ...listed } = await listCircles(em, caller, query);
    return {
      message: 'Saving circles found',
      saving_circles: circles.map((circle) => ({
        ...presentCircle(circle),
        ...(query.discover && { account_id: undefined }),
      })),
      ...presentPage(query, listed),
    };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a saving circle',
    description:
      'With `x-client-type: mobile` the stored fields; with `web` (the default) also `aggregation`. Callers who ' +
      'neither belong to the circle nor manage it see neither accounts nor who has not paid. A user invited to a ' +
      'new circle, or offered a place in an active one, may read it in the same way while the invitation or offer ' +
      'is open.',
    access: allow('read-saving-circle', {
      scope: 'own, joined, visible, or with an invitation or offer to the caller; all for platform',
    }),
    params,
    answers: { 200: z.object({ message, saving_circle: CircleDetailAnswer }) },
  },
  async ({ em, caller, params: { id }, ctx }) => {
    const seen = await getVisibleCircle(em, caller, id, { orInvited: true });
    const saving_circle = await describeCircle(em, caller, seen, { withAggregation: !isMobileClient(ctx) });
    return { message: 'Saving circle found', saving_circle };
  },
);

routes.patch(
  '/:id',
  {
    summary: 'Change a saving circle',
    description:
      'While it is `new` every field may change; once anybody but the creator has joined, `amount`, ' +
      '`current_turn` and `terms` are fixed, and `start_date` can only move later. After the start only `name` ' +
      'and `visibility` can change (400 otherwise).',
    access: allow('update-saving-circle', { scope: 'as creator or admin' }),
    params,
    body: CircleChangeBody,
    answers: { 200: z.object({ message, data: CircleAnswer }) },
  },
  async ({ em, deps, caller, params: { id }, body, requestId }) => {
    const circle = await updateCircle(em, deps, { caller, circleId: id, change: body, requestId });
    return { message: 'Saving circle updated', data: presentCircle(circle) };
  },
);

routes.delete(
  '/:id',
  {
    summary: 'Delete a saving circle',
    description: 'Only a `new` circle, or an `active` one without contributions (400 otherwise).',
    access: allow('delete-saving-circle', { scope: 'as creator or admin' }),
    params,
    answers: { 200: z.object({ message }) },
  },
  async ({ em, deps, caller, params: { id }, requestId }) => {
    await deleteCircle(em, deps, { caller, circleId: id, requestId });
    return { message: 'Saving circle deleted' };
  },
);

routes.post(
  '/:id/cancel',
  {
    summary: 'Cancel an active saving circle',
    description:
      'Refunds contributions to the unfinished round, including money that still arrives. The remaining balance ' +
      'is distributed in proportion to positive net positions; the settlement shows the rest as `debts`. In a ' +
      'circle that began at a later turn than 1, payments in the earlier rounds, held elsewhere, count in the ' +
      'distribution and the debts. The circle stays readable.',
    access: allow('delete-saving-circle', { userTypes: ['platform'], scope: 'all' }),
    params,
    answers: { 200: z.object({ message, data: CircleAnswer }) },
  },
  async ({ em, deps, caller, params: { id }, requestId }) => {
    const circle = await cancelCircle(em, deps, { caller, circleId: id, requestId });
    return { message: 'Saving circle cancelled', data: presentCircle(circle) };
  },
);

routes.get(
  '/:id/draw',
  {
    summary: 'Check the draw of a lottery',
    description:
      '`commitment` is the SHA-256, in hex, of `seed` (a text). Members take their turns by ascending SHA-256 of ' +
      'the text `seed:account_id`; in circles with terms, of the text `seed:entropy:account_id`, where `entropy` ' +
      'is the SHA-256, in hex, of the values of all members in the order of joining, joined by newlines. All but ' +
      '`commitment` are null until the circle starts. Callers who neither belong to the circle nor manage it do ' +
      'not see accounts. Note the commitment, and your own value, when you join: `examples/verify-draw.ts` checks ' +
      'the draw against them, offline. That proves that neither the seed nor your value was changed. But only the ' +
      'service sees the seed and all values before the draw: a platform that also joins, itself or through an ' +
      'accomplice, could try values for its own member until the order suits, even after all others have joined. ' +
      'In circles without terms, anybody who has the seed can compute the order of accounts before they join.',
    access: allow('read-saving-circle', { scope: 'own, joined or visible; all for platform' }),
    params,
    answers: { 200: z.object({ message, data: DrawAnswer }) },
  },
  async ({ em, caller, params: { id } }) => {
    return { message: 'Draw found', data: await findDraw(em, await getVisibleCircle(em, caller, id)) };
  },
);

routes.get(
  '/:id/settlement',
  {
    summary: 'Read the settlement of a circle',
    description:
      'For members, creator and admins. `net_position` is `paid` (completed contributions) plus `guarantee` less ' +
      '`received` (pots and shares of the final balance); `held` is the sum of all net positions. `debts` lists what ' +
      'guarantees paid for others and, once the circle has ended, who owes whom. In a circle that began at a later ' +
      'turn than 1, debts include the earlier rounds, which the other fields do not: everybody counts as having paid ' +
      'them, and each member with an earlier turn as having received its pot.',
    access: allow('read-saving-circle', { scope: 'own and joined; all for platform' }),
    params,
    answers: { 200: z.object({ message, data: SettlementAnswer }) },
  },
  async ({ em, caller, params: { id } }) => ({
    message: 'Settlement found',
    data: await findSettlement(em, caller, id),
  }),
);

export const savingCirclesRoutes = routes;

const summary = createRouteGroup({ prefix: '/v1/summary/saving-circles', tag: 'Saving circles' });

summary.get(
  '/',
  {
    summary: "Summarize an organization's saving circles",
    description:
      'All figures are strings. Platform callers may name any organization with `organization_id`, or omit it for ' +
      'the total of all; others get 401 for any but their own.',
    access: allow('read-saving-circle', {
      userTypes: ['platform', 'organization'],
      scope: "the organization's; all for platform",
    }),
    query: z.object({ organization_id: uuid().optional() }),
    answers: { 200: z.object({ message, ...summaryFields }) },
    refusals: [404],
  },
  async ({ em, caller, query, requestId }) => ({
    message: 'Summary of saving circles',
    ...(await summarizeCircles(em, { caller, organizationId: query.organization_id, requestId })),
  }),
);

export const circleSummaryRoutes = summary;
