import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow, signedIn } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { email, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { userLaw, userTypes } from '../../shared/user.ts';
import { getVisibleUser, listUsers } from './find-user.ts';
import { invitePermissions } from './invitation.ts';
import { inviteUser } from './invite-user.ts';
import { presentUser, UserAnswer } from './present-user.ts';
import { setUserStatus } from './set-user-status.ts';
import { takeBackInvitation } from './take-back-invitation.ts';

interface Ports {
  config: Pick<Config, 'NODE_ENV' | 'RATE_LIMIT_SIGNUPS_PER_HOUR'>;
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/users',
  tag: 'Users',
  description: 'Users, invitations, suspension.',
});

const message = z.string();
const ownOrganization = { scope: 'platform: all; others: users of their own organization' };

routes.post(
  '/invitations',
  {
    summary: 'Invite a user',
    description:
      'The one-time token is sent to the invited address; the response contains it in development only. The user `id` in the response serves to withdraw the invitation. The token is valid for seven days; after that the address is free again, and 30 days later the user is deleted. Without `role_id` the user gets the default role of the type. Organizations may invite an address at most ten times in an hour; invitations by an organization that is not `active` count as sign-ups from the network address.',
    access: signedIn({
      scope: 'platform: all; others: their own organization',
      note: 'By `user_type`: `invite-individual-user`, `invite-organization-admin` or `invite-platform-admin`',
    }),
    body: z.strictObject({
      email: email(),
      name: text(200),
      user_type: z.enum(userTypes),
      organization_id: uuid().optional(),
      role_id: uuid().optional(),
    }),
    answers: {
      201: z.object({
        message,
        data: z.object({ id: z.guid(), token: z.string().optional(), expires_at: timestamp(), user: UserAnswer }),
      }),
    },
    refusals: [404, 429],
  },
  async ({ body, caller, ctx, em, deps, requestId }) => {
    const { token, expiresAt, user } = await inviteUser(em, deps.sealer, {
      caller,
      requestId,
      origin: { address: ctx.ip, perHour: deps.config.RATE_LIMIT_SIGNUPS_PER_HOUR },
      email: body.email,
      name: body.name,
      userType: body.user_type,
      organizationId: body.organization_id,
      roleId: body.role_id,
    });
    const shown = await presentUser(deps.sealer, user);
    const told = deps.config.NODE_ENV === 'development' ? { token } : {};
    const data = { id: user.id, ...told, expires_at: expiresAt.toISOString(), user: shown };
    return created({ message: 'User invited', data });
  },
);

const userId = z.object({ user_id: uuid() });

routes.delete(
  '/invitations/:user_id',
  {
    summary: 'Withdraw an invitation',
    description:
      'Needs the permission to invite this type of user. The token is revoked, the user is deleted and the address ' +
      'is free. 400 once the invitation has been accepted. Only a super admin may withdraw or renew an invitation ' +
      'that a super admin sent.',
    // The required permission depends on the type of the user.
    access: allow(Object.values(invitePermissions), { scope: 'platform: all; others: their own organization' }),
    params: userId,
    answers: { 200: z.object({ message }) },
    refusals: [404],
  },
  async ({ params, caller, em, requestId }) => {
    await takeBackInvitation(em, { caller, userId: params.user_id, requestId });
    return { message: 'Invitation taken back' };
  },
);

routes.get(
  '/',
  {
    summary: 'List users',
    access: allow('read-user', ownOrganization),
    query: listQuery().extend({
      organization_id: uuid().optional().meta({ description: 'Honoured for platform callers only.' }),
      user_type: z.enum(userTypes).optional(),
      status: z.enum(userLaw.statuses).optional(),
    }),
    answers: { 200: z.object({ message, data: z.object({ items: z.array(UserAnswer), ...pageFields }) }) },
  },
  async ({ query, caller, em, deps, requestId }) => {
    const { organization_id: organizationId, user_type: userType, status, ...page } = query;
    const { users, ...listed } = await listUsers(em, { caller, requestId, organizationId, userType, status, ...page });
    const items = await Promise.all(users.map((user) => presentUser(deps.sealer, user)));
    return { message: 'Users found', data: { items, ...presentPage(query, listed) } };
  },
);

routes.get(
  '/:user_id',
  {
    summary: 'Read a user',
    access: allow('read-user', ownOrganization),
    params: userId,
    answers: { 200: z.object({ message, data: UserAnswer }) },
  },
  async ({ params, caller, em, deps, requestId }) => {
    const user = await getVisibleUser(em, { caller, userId: params.user_id, requestId });
    return { message: 'User found', data: await presentUser(deps.sealer, user) };
  },
);

routes.patch(
  '/:user_id',
  {
    summary: 'Suspend a user or lift the suspension',
    description:
      'A suspended user gets 401 at the next request. 400 for a user who has only been invited, and for suspending oneself or the last super admin.',
    access: allow('update-user', { userTypes: ['platform'], scope: 'all; super admins by super admins only' }),
    params: userId,
    body: z.strictObject({ status: z.enum(['active', 'suspended']) }),
    answers: { 200: z.object({ message, data: UserAnswer }) },
  },
  async ({ params, body, caller, em, deps, requestId }) => {
    const user = await setUserStatus(em, { caller, requestId, userId: params.user_id, status: body.status });
    return { message: 'User updated', data: await presentUser(deps.sealer, user) };
  },
);

export const usersRoutes = routes;
