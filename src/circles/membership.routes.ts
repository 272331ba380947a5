import { z } from 'zod';
import { OrderShape } from '../money-in/payments/present-order.ts';
import { allow } from '../platform/http/access.ts';
import { created } from '../platform/http/answer.ts';
import { email, uuid } from '../platform/http/fields.ts';
import { readIdempotencyKey } from '../platform/http/idempotency-key.ts';
import { listQuery, pageFields, presentPage } from '../platform/http/paging.ts';
import { sendStored } from '../platform/http/replay.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import { refuse } from '../shared/errors.ts';
import { addMembers, inviteMembers, removeMember } from './change-members.ts';
import { ContributionBody } from './circle-shape.ts';
import { type ContributionPorts, contribute } from './contribute.ts';
import { listContributions } from './list-circles.ts';
import {
  contributionFields,
  MemberAnswer,
  presentContribution,
  presentMember,
  presentReplacement,
  ReplacementAnswer,
  StandingOrderAnswer,
} from './present-circle.ts';
import { acceptReplacement, proposeReplacement } from './replace-member.ts';
import { addedAtOnce } from './saving-circle.ts';
import { endStandingOrder, setStandingOrder } from './standing-orders.ts';

const message = z.string();
const some = <Id extends z.ZodType>(id: Id, what: string) =>
  z.array(id).min(1, 'must not be empty').max(addedAtOnce, `must be at most ${addedAtOnce} ${what} at once`).optional();
const hexCharacters = 'must be 16 to 64 hex characters';

const routes = createRouteGroup<ContributionPorts>({ prefix: '/v1/saving-circles', tag: 'Saving circles' });

routes.post(
  '/members',
  {
    summary: 'Join a saving circle, or add members to it',
    description:
      'With `account_ids` creator and admins add members, all or none, in this order. Without it the caller joins ' +
      'with their oldest account, if they are the creator, an admin or invited, or the circle is open to them. ' +
      'Only while the circle is `new`. Joining accepts the current terms. Under `winner_first` each member must ' +
      'join in person with `consent: true`, and in a lottery with terms also with `entropy`, a random value of ' +
      'their own that is shown after the draw. With `user_ids` or `emails` creator and admins invite people of ' +
      'the circle’s organization (its admins list them at `GET /v1/users`): they get an e-mail, see the circle in ' +
      'their list and join by themselves.',
    access: allow('create-saving-circle', {
      scope: 'as creator or admin; oneself if invited or if the circle is open to the caller',
    }),
    body: z.strictObject({
      saving_circle_id: uuid(),
      account_ids: some(uuid(), 'accounts'),
      user_ids: some(uuid(), 'users'),
      emails: some(email(), 'users'),
      consent: z
        .boolean()
        .optional()
        .meta({ description: 'Consent to debit the account for contributions once the member has received the pot.' }),
      entropy: z
        .string()
        .min(16, hexCharacters)
        .max(64, hexCharacters)
        .regex(/^[0-9A-Fa-f]*$/, hexCharacters)
        .optional()
        .meta({ description: 'Your own random value for the draw. Keep it secret until then.' }),
    }),
    answers: { 201: z.object({ message, data: z.object({ members: z.array(MemberAnswer) }) }) },
    refusals: [404],
  },
  async ({ em, deps, caller, body, requestId }) => {
    const { saving_circle_id: circleId, account_ids: accountIds, user_ids: userIds, emails, consent, entropy } = body;
    if (userIds !== undefined || emails !== undefined) {
      const field = userIds === undefined ? 'emails' : 'user_ids';
      if (accountIds !== undefined) refuse('REQUEST_INVALID', 'cannot be sent with account_ids', { field });
      const people = { userIds: userIds ?? [], emails: emails ?? [] };
      await inviteMembers(em, deps.sealer, { caller, circleId, ...people, requestId });
      return created({ message: 'Invitations sent', data: { members: [] } });
    }
    const members = await addMembers(em, deps, { caller, circleId, accountIds, consent, entropy, requestId });
    return created({ message: 'Members added', data: { members: members.map(presentMember) } });
  },
);

routes.delete(
  '/:id/members/:member_id',
  {
    summary: 'Remove a member from a saving circle',
    description: 'For the member, the creator or an admin, while the circle is `new` (400 otherwise).',
    access: allow('create-saving-circle', { scope: 'oneself; as creator or admin' }),
    params: z.object({ id: uuid(), member_id: uuid() }),
    answers: { 200: z.object({ message, data: MemberAnswer }) },
  },
  async ({ em, deps, caller, params: { id, member_id }, requestId }) => {
    const member = await removeMember(em, deps, { caller, circleId: id, memberId: member_id, requestId });
    return { message: 'Member removed', data: presentMember(member) };
  },
);

routes.post(
  '/contribute',
  {
    summary: 'Contribute to the open round',
    description:
      '`contribution_amount` must equal the amount of the circle. With `payment_id` the gateway collects it: the ' +
      'contribution is `pending` and the response contains `payment`. Otherwise it is paid at once from a ' +
      'balance: `source_account_id`, or the account with which the payer joined. Each member has one pending or ' +
      'completed contribution per turn, even if somebody else pays it (`on_behalf_of`). In a circle with terms an ' +
      'order expires with the grace period at the latest; none is accepted in its last ten minutes. If the terms ' +
      'require a guarantee, it is debited with the first contribution of a member and shown as ' +
      '`guarantee_amount`. The same `Idempotency-Key` and body return the first response.',
    access: allow('update-saving-circle', { scope: 'circles to which the caller belongs' }),
    body: ContributionBody,
    idempotent: true,
    answers: { 201: z.object({ message, ...contributionFields, payment: OrderShape.optional() }) },
    refusals: [404, 502, 503],
  },
  async ({ em, deps, caller, body, ctx, requestId }) => {
    const key = readIdempotencyKey(ctx);
    return sendStored(await contribute(em, deps, { caller, key, request: body, requestId }));
  },
);

routes.get(
  '/:id/contributions',
  {
    summary: 'List contributions to a saving circle',
    description: "The caller's own; all members' for creator and admins.",
    access: allow('read-saving-circle', { scope: 'own as a member; all as creator or admin' }),
    params: z.object({ id: uuid() }),
    query: listQuery(),
    answers: {
      200: z.object({ message, data: z.object({ items: z.array(z.object(contributionFields)), ...pageFields }) }),
    },
  },
  async ({ em, caller, params: { id }, query }) => {
    const { items, ...listed } = await listContributions(em, caller, { circleId: id, ...query });
    return {
      message: 'Contributions found',
      data: { items: items.map(presentContribution), ...presentPage(query, listed) },
    };
  },
);

const place = z.object({ id: uuid(), member_id: uuid() });

routes.post(
  '/:id/members/:member_id/replacements',
  {
    summary: 'Propose a replacement for a member of a circle',
    description:
      'While the circle is active, for the leaving member (who agrees by proposing), the creator or an admin. A later ' +
      'proposal for the same place withdraws an earlier one; repeating a proposal returns the open one, and the ' +
      'leaving member agrees to it by doing so. `GET` of the circle shows it in `replacements` to those who must agree, ' +
      'to its proposer and to platform users.',
    access: allow('update-saving-circle', { scope: 'oneself; as creator or admin' }),
    params: place,
    body: z.strictObject({ account_id: uuid() }),
    answers: { 201: z.object({ message, data: ReplacementAnswer }) },
  },
  async ({ em, deps, caller, params: { id, member_id }, body: { account_id: accountId }, requestId }) => {
    const proposing = { caller, circleId: id, memberId: member_id, accountId, requestId };
    const replacement = await proposeReplacement(em, deps, proposing);
    return created({ message: 'Replacement proposed', data: presentReplacement(replacement) });
  },
);

routes.post(
  '/:id/replacements/:replacement_id/accept',
  {
    summary: 'Agree to a replacement',
    description:
      'For the new member (under `winner_first` with `consent: true`) and, if somebody else proposed it, the leaving ' +
      'member. Once both have agreed it is `completed`: place, debts and rights are transferred. Agreeing again has no ' +
      'effect, unless the place has since received the pot, or a pot was paid without its contribution: then earlier ' +
      'agreements have lapsed, and both must agree again.',
    access: allow('update-saving-circle', { scope: 'the new and the leaving member' }),
    params: z.object({ id: uuid(), replacement_id: uuid() }),
    body: z.strictObject({ consent: z.boolean().optional() }),
    answers: { 200: z.object({ message, data: ReplacementAnswer }) },
  },
  async ({ em, deps, caller, params: { id, replacement_id: replacementId }, body: { consent }, requestId }) => {
    const accepting = { caller, circleId: id, replacementId, consent, requestId };
    return { message: 'Replacement accepted', data: presentReplacement(await acceptReplacement(em, deps, accepting)) };
  },
);

routes.put(
  '/:id/members/:member_id/standing-order',
  {
    summary: 'Set a standing order',
    description:
      'Pays each round when it opens, from an account of the member, starting with the next round. Debits exactly ' +
      'the named amount. If the balance does not cover it, the member must pay that round in another way.',
    access: allow('update-saving-circle', { scope: 'oneself' }),
    params: place,
    body: z.strictObject({ source_account_id: uuid() }),
    answers: { 200: z.object({ message, data: StandingOrderAnswer }) },
  },
  async ({ em, caller, params: { id, member_id }, body: { source_account_id: sourceAccountId }, requestId }) => {
    const ordering = { caller, circleId: id, memberId: member_id, sourceAccountId, requestId };
    return { message: 'Standing order set', data: await setStandingOrder(em, ordering) };
  },
);

routes.delete(
  '/:id/members/:member_id/standing-order',
  {
    summary: 'Cancel a standing order',
    access: allow('update-saving-circle', { scope: 'oneself' }),
    params: place,
    answers: { 200: z.object({ message, data: StandingOrderAnswer }) },
  },
  async ({ em, caller, params: { id, member_id }, requestId }) => {
    const ended = await endStandingOrder(em, { caller, circleId: id, memberId: member_id, requestId });
    return { message: 'Standing order cancelled', data: ended };
  },
);

export const circleMembershipRoutes = routes;
