import { z } from 'zod';
import { allow } from '../platform/http/access.ts';
import { created } from '../platform/http/answer.ts';
import { amount, timestamp, uuid } from '../platform/http/fields.ts';
import { presentFields } from '../platform/http/present-fields.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import type { WakingCircles } from './change-circle.ts';
import { presentReplacement, ReplacementAnswer } from './present-circle.ts';
import { acceptReplacement, proposeReplacement } from './replace-member.ts';
import { endStandingOrder, type StandingOrder, setStandingOrder } from './standing-orders.ts';

const message = z.string();
const StandingOrderAnswer = z.object({
  member_id: uuid(),
  source_account_id: uuid(),
  amount: amount().meta({ description: 'The contribution, which is all that it ever debits.' }),
  guarantee_amount: amount().meta({ description: 'Debited beside the first contribution; zero once it was given.' }),
  created_at: timestamp(),
});
const presentOrder = (order: StandingOrder): z.input<typeof StandingOrderAnswer> =>
  presentFields(StandingOrderAnswer.shape, order);
const place = z.object({ id: uuid(), member_id: uuid() });

const routes = createRouteGroup<WakingCircles>({ prefix: '/v1/saving-circles', tag: 'Saving circles' });

routes.post(
  '/:id/members/:member_id/replacements',
  {
    summary: 'Propose who takes over a place in a circle',
    description:
      'While the circle is active. By the leaving member, which is their consent, the creator or an admin. A later proposal ' +
      'for the same place withdraws an earlier one; the same again is answered with the open one, to which the leaving ' +
      'member agrees by it. The detail of the circle shows it in `replacements` to those who have to agree.',
    access: allow('update-saving-circle', { scope: 'oneself; as creator or admin' }),
    params: place,
    body: z.strictObject({ account_id: uuid() }),
    answers: { 201: z.object({ message, data: ReplacementAnswer }) },
    refusals: [404],
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
      'By the new member, under `winner_first` with `consent: true`, and, where somebody else proposed it, by the leaving ' +
      'one. Once both have agreed it is `completed`: place, debts and rights pass over. Agreeing twice is agreeing once.',
    access: allow('update-saving-circle', { scope: 'the new and the leaving member' }),
    params: z.object({ id: uuid(), replacement_id: uuid() }),
    body: z.strictObject({ consent: z.boolean().optional() }),
    answers: { 200: z.object({ message, data: ReplacementAnswer }) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id, replacement_id: replacementId }, body: { consent }, requestId }) => {
    const accepting = { caller, circleId: id, replacementId, consent, requestId };
    return { message: 'Replacement accepted', data: presentReplacement(await acceptReplacement(em, deps, accepting)) };
  },
);

routes.put(
  '/:id/members/:member_id/standing-order',
  {
    summary: 'Have each round paid when it opens',
    description:
      'From an account of the member who asks for it, from the next round that opens. It is for the amount that it ' +
      'names, and never debits another. What its balance does not cover is left to the member.',
    access: allow('update-saving-circle', { scope: 'oneself' }),
    params: place,
    body: z.strictObject({ source_account_id: uuid() }),
    answers: { 200: z.object({ message, data: StandingOrderAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id, member_id }, body: { source_account_id: sourceAccountId }, requestId }) => {
    const ordering = { caller, circleId: id, memberId: member_id, sourceAccountId, requestId };
    return { message: 'Standing order kept', data: presentOrder(await setStandingOrder(em, ordering)) };
  },
);

routes.delete(
  '/:id/members/:member_id/standing-order',
  {
    summary: 'End a standing order',
    access: allow('update-saving-circle', { scope: 'oneself' }),
    params: place,
    answers: { 200: z.object({ message, data: StandingOrderAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id, member_id }, requestId }) => {
    const ended = await endStandingOrder(em, { caller, circleId: id, memberId: member_id, requestId });
    return { message: 'Standing order ended', data: presentOrder(ended) };
  },
);

export const circlePlacesRoutes = routes;
