import { z } from 'zod';
import { noteOfDecision } from '../decisions/decision-note.ts';
import { DecisionAnswer, presentDecision } from '../decisions/present-decision.ts';
import { proposeDecision } from '../decisions/propose-decision.ts';
import { allow } from '../http/access.ts';
import { created } from '../http/answer.ts';
import { timestamp, uuid } from '../http/fields.ts';
import { createRouteGroup } from '../http/route-group.ts';
import type { Erasure } from './erasure.entity.ts';
import { type ErasureTerms, erasureLaw } from './erasure.ts';
import { getErasure } from './find-erasure.ts';
import { stopErasure } from './stop-erasure.ts';

const routes = createRouteGroup({ prefix: '/v1/users', tag: 'Users' });

const operators = { userTypes: ['platform'], scope: 'all' } as const;
const message = z.string();
const params = z.object({ user_id: uuid() });
const hourMs = 3_600_000;

const ErasureAnswer = z
  .object({
    id: uuid(),
    user_id: uuid(),
    decision_id: uuid().nullable(),
    status: z
      .enum(erasureLaw.statuses)
      .describe(
        '`waiting` until `due_at`; `erasing` while key and files are being destroyed; `erased` when nothing in use ' +
          'names the person; `complete` when no backup of the keys is left that could open one of the rest.',
      ),
    held_because: z.string().nullable().describe('Why it waits for longer; it is looked at again each day.'),
    begun_at: timestamp(),
    due_at: timestamp().describe('The earliest time at which the person is erased.'),
    erased_at: timestamp().nullable(),
    complete_at: timestamp().nullable().describe('When it is, or will be, complete.'),
    ended_at: timestamp().nullable(),
  })
  .meta({ id: 'Erasure' });

function present(erasure: Erasure, terms: ErasureTerms): z.input<typeof ErasureAnswer> {
  const { id, user_id, status, begun_at, erased_at } = erasure;
  const after = (from: Date, hours: number) => new Date(from.getTime() + hours * hourMs).toISOString();
  return {
    id,
    user_id,
    decision_id: erasure.decision_id ?? null,
    status,
    held_because: erasure.held_because ?? null,
    begun_at: begun_at.toISOString(),
    due_at: after(begun_at, terms.ERASURE_WAIT_HOURS),
    erased_at: erased_at?.toISOString() ?? null,
    complete_at: erased_at ? after(erased_at, terms.KEYS_BACKUP_DAYS * 24) : null,
    ended_at: erasure.ended_at?.toISOString() ?? null,
  };
}

routes.post(
  '/:user_id/erasure',
  {
    summary: 'Propose to erase a person',
    description:
      'A decision of kind `erase_person`, which another person approves (`POST /v1/decisions/:id/approve`). 400, saying ' +
      'why, while money or a promise about money is theirs: a balance, an open payment, withdrawal, subscription, ' +
      'circle or cause. Approved, it waits for `ERASURE_WAIT_HOURS`; then name and e-mail address, addresses, identity ' +
      'and bank documents and files are gone for good, the account is closed, and the books keep its id.',
    access: allow('propose-decision', operators),
    params,
    body: z.strictObject({ note: noteOfDecision() }),
    answers: { 201: z.object({ message, data: DecisionAnswer }) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { user_id }, body: { note }, requestId }) => {
    const proposal = { kind: 'erase_person', user_id } as const;
    const decision = await proposeDecision(em, deps, { caller, proposal, note, requestId });
    return created({ message: 'Decision proposed', data: presentDecision(decision) });
  },
);

routes.get(
  '/:user_id/erasure',
  {
    summary: 'Read how far the erasure of a person has come',
    access: allow(['propose-decision', 'approve-decision'], operators),
    params,
    answers: { 200: z.object({ message, data: ErasureAnswer }) },
    refusals: [404],
  },
  async ({ em, deps, params: { user_id } }) => ({
    message: 'Erasure found',
    data: present(await getErasure(em, user_id), deps.config),
  }),
);

routes.delete(
  '/:user_id/erasure',
  {
    summary: 'Stop an erasure that still waits',
    description: 'One person is enough. 400 once the person has been erased: nothing brings it back.',
    access: allow('propose-decision', operators),
    params,
    answers: { 200: z.object({ message, data: ErasureAnswer }) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { user_id: userId }, requestId }) => {
    const stopped = await stopErasure(em, { userId, actorId: caller.userId, requestId });
    return { message: 'Erasure stopped', data: present(stopped, deps.config) };
  },
);

export const erasureRoutes = routes;
