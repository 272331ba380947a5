import type { Context } from 'koa';
import { z } from 'zod';
import { embedDocuments } from '../../people/documents/embed-documents.ts';
import type { DocumentView } from '../../people/documents/present-document.ts';
import { embeddedDocumentsFields } from '../../people/documents/present-document.ts';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { clearable, discoverFlag, moneyNumber, prose, text, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { approveCause } from './approve-cause.ts';
import { assignManager, removeManager } from './assign-manager.ts';
import { causeLaw, causeTextLimits } from './cause.ts';
import { createCause } from './create-cause.ts';
import { deactivateCause } from './deactivate-cause.ts';
import { getVisibleCause } from './find-cause.ts';
import { listCauses } from './list-causes.ts';
import { measureCause } from './measure-cause.ts';
import {
  CauseAggregationAnswer,
  CauseAnswer,
  causeFields,
  ListedCauseAnswer,
  presentAggregation,
  presentCause,
  presentListedCause,
} from './present-cause.ts';
import { reinstateCause, stopCause } from './stop-cause.ts';
import { updateCause } from './update-cause.ts';

const message = z.string();
const params = z.object({ id: uuid() });
const texts = {
  name: text(causeTextLimits.name),
  description: prose(causeTextLimits.text),
  regulations: prose(causeTextLimits.text),
  benefit: prose(causeTextLimits.text),
};
const ofTheSuperAdmin = allow('approve-charitable-cause', {
  userTypes: ['platform'],
  role: 'platform_super_admin',
  scope: 'all',
});
const why = z.strictObject({ reason: prose(causeTextLimits.reason, 3) });
const currency = z.literal('IDR', 'must be IDR');

const routes = createRouteGroup<DocumentView>({
  prefix: '/v1/charitable-causes',
  tag: 'Charitable causes',
  description: 'Causes that people and organizations register and the platform approves. Anybody can donate to them.',
});

/** Returns whether the client claims to be `mobile`; anything else counts as `web` (docs/contract.md 5). */
const isMobile = (ctx: Context): boolean => ctx.get('x-client-type').trim().toLowerCase() === 'mobile';

routes.get(
  '/',
  {
    summary: 'List charitable causes',
    description:
      "With `organization_id` an organization admin sees another organization's active causes, an individual those " +
      'of their own organization (403 otherwise). `user_id` is the creator, `account_id` the receiving account; the ' +
      'caller must have access to both (403).',
    access: allow('read-charitable-cause', {
      scope: "received into own accounts or managed; the organization's for its admins; all for platform",
    }),
    query: listQuery().extend({
      status: z.enum([...causeLaw.statuses, 'all']).optional(),
      organization_id: uuid().optional(),
      user_id: uuid().optional(),
      account_id: uuid().optional(),
      discover: discoverFlag(),
    }),
    answers: { 200: z.object({ message, charitable_causes: z.array(ListedCauseAnswer), ...pageFields }) },
    refusals: [404],
  },
  async ({ em, caller, query }) => {
    const { rows, ...listed } = await listCauses(em, caller, query);
    return {
      message: 'Charitable causes found',
      charitable_causes: rows.map((row) => presentListedCause(row, query.discover)),
      ...presentPage(query, listed),
    };
  },
);

routes.post(
  '/',
  {
    summary: 'Register a charitable cause',
    description:
      'The cause is `pending` until the platform approves it. Donations are credited to `account_id`: an account ' +
      'of the caller or, for its admins and platform callers, of an organization (403 otherwise).',
    access: allow('create-charitable-cause', {
      scope: 'for the caller; for an organization by its admins and platform',
    }),
    body: z.strictObject({
      account_id: uuid(),
      ...texts,
      target_amount: moneyNumber(),
      currency: currency.optional(),
      location: text(causeTextLimits.location).optional(),
      organization_id: uuid().optional(),
    }),
    answers: { 201: z.object({ message, ...causeFields }) },
    refusals: [404],
  },
  async ({ em, caller, body: { currency: _, ...cause }, requestId }) => {
    const row = await createCause(em, { caller, cause, requestId });
    return created({ message: 'Charitable cause created', ...presentCause(row) });
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a charitable cause',
    description: 'With `x-client-type: mobile` the stored fields; with `web` (the default) also `aggregation`.',
    access: allow('read-charitable-cause', { scope: 'active causes; others as in the list' }),
    params,
    answers: {
      200: z.object({
        message,
        charitable_cause: CauseAnswer.extend({
          ...embeddedDocumentsFields,
          aggregation: CauseAggregationAnswer.optional(),
        }),
      }),
    },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id }, ctx }) => {
    const cause = await getVisibleCause(em, caller, id);
    const embedded = await embedDocuments(em, { caller, deps }, 'charitable_cause', id);
    const stored = { ...presentCause(cause), ...embedded };
    const aggregation = isMobile(ctx) ? {} : { aggregation: presentAggregation(await measureCause(em, id)) };
    return { message: 'Charitable cause found', charitable_cause: { ...stored, ...aggregation } };
  },
);

routes.patch(
  '/:id',
  {
    summary: 'Change a charitable cause',
    description:
      'A cause that was never approved cannot be set to `active`, `approved` or `completed` (403). Changing ' +
      '`name`, `regulations`, `benefit` or `target_amount` of an approved cause makes it `pending` and unapproved ' +
      'again. The status of a cause that the platform stopped cannot be changed (403). A cause set to `cancelled` ' +
      'or `deactivated` after disbursing all its money then becomes `completed`; the response shows the requested ' +
      'status.',
    access: allow('update-charitable-cause', { scope: 'as creator, admin of its organization or manager' }),
    params,
    body: z.strictObject({
      name: texts.name.optional(),
      description: texts.description.optional(),
      currency: currency.optional(),
      target_amount: moneyNumber().optional(),
      regulations: texts.regulations.optional(),
      benefit: texts.benefit.optional(),
      location: clearable(text(causeTextLimits.location)),
      status: z.enum(causeLaw.statuses).optional(),
    }),
    answers: { 200: z.object({ message, data: CauseAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id: causeId }, body: changes, requestId }) => {
    const row = await updateCause(em, { caller, causeId, changes, requestId });
    return { message: 'Charitable cause updated', data: presentCause(row) };
  },
);

routes.delete(
  '/:id',
  {
    summary: 'Deactivate a charitable cause',
    description:
      'The cause becomes `deactivated`; its donations are not refunded. A cause that has disbursed all its money ' +
      'then becomes `completed`; the response still shows `deactivated`.',
    access: allow('delete-charitable-cause', { scope: 'as creator or admin of its organization' }),
    params,
    answers: { 200: z.object({ message, data: CauseAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id: causeId }, requestId }) => {
    const row = await deactivateCause(em, { caller, causeId, requestId });
    return { message: 'Charitable cause deactivated', data: presentCause(row) };
  },
);

routes.post(
  '/:id/assign-manager',
  {
    summary: 'Make a user a manager of a charitable cause',
    access: allow('update-charitable-cause', { scope: 'as creator or admin of its organization' }),
    params,
    body: z.strictObject({ user_id: uuid() }),
    answers: {
      200: z.object({
        message,
        data: z.object({ manager: z.object({ user_id: uuid(), cause_id: uuid(), role: z.literal('manager') }) }),
      }),
    },
    refusals: [404],
  },
  async ({ em, caller, params: { id: causeId }, body: { user_id: userId }, requestId }) => {
    await assignManager(em, { caller, causeId, userId, requestId });
    return { message: 'Manager assigned', data: { manager: { user_id: userId, cause_id: causeId, role: 'manager' } } };
  },
);

routes.delete(
  '/:id/managers/:user_id',
  {
    summary: 'Remove a manager of a charitable cause',
    description:
      'The creator and admins of its organization may remove anyone, managers only themselves (403 otherwise).',
    access: allow('update-charitable-cause', { scope: 'as creator or admin of its organization; oneself' }),
    params: params.extend({ user_id: uuid() }),
    answers: { 200: z.object({ message }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id: causeId, user_id: userId }, requestId }) => {
    await removeManager(em, { caller, causeId, userId, requestId });
    return { message: 'Manager removed' };
  },
);

routes.patch(
  '/:id/approve',
  {
    summary: 'Approve a charitable cause',
    description: 'Only a `pending` cause can be approved (400 otherwise).',
    access: ofTheSuperAdmin,
    params,
    answers: { 200: z.object({ message, data: CauseAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id: causeId }, requestId }) => {
    const row = await approveCause(em, { caller, causeId, requestId });
    return { message: 'Charitable cause approved', data: presentCause(row) };
  },
);

routes.post(
  '/:id/stop',
  {
    summary: 'Stop a charitable cause',
    description:
      'A cause in any status becomes `rejected`, which only the platform can undo: donations, allocations and ' +
      'periods of subscriptions are refused. It keeps its money, unsent disbursements fail, and open orders are ' +
      'settled. 400 if it is already stopped.',
    access: ofTheSuperAdmin,
    params,
    body: why,
    answers: { 200: z.object({ message, data: CauseAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id: causeId }, body: { reason }, requestId }) => {
    const row = await stopCause(em, { caller, causeId, reason, requestId });
    return { message: 'Charitable cause stopped', data: presentCause(row) };
  },
);

routes.post(
  '/:id/reinstate',
  {
    summary: 'Reinstate a charitable cause that was stopped',
    description:
      'Restores its previous status; it accepts donations again if that is `active`, or `in_progress` and ' +
      'approved. Subscription periods refused while it was stopped are retried within a day. 400 if the cause is ' +
      'not stopped; 403 if it would reopen but its owner was erased.',
    access: ofTheSuperAdmin,
    params,
    body: why,
    answers: { 200: z.object({ message, data: CauseAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id: causeId }, body: { reason }, requestId }) => {
    const row = await reinstateCause(em, { caller, causeId, reason, requestId });
    return { message: 'Charitable cause reinstated', data: presentCause(row) };
  },
);

export const causesRoutes = routes;
