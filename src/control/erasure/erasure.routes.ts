import { z } from 'zod';
import { proposeDecision } from '../../money-out/decisions/decide.ts';
import type { DecisionPorts } from '../../money-out/decisions/handling.ts';
import { DecisionAnswer, noteOfDecision, presentDecision } from '../../money-out/decisions/present-decision.ts';
import type { Config } from '../../platform/config/config.ts';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { timestamp, uuid } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import type { Erasure } from './erasure.entity.ts';
import { type ErasureTerms, erasureLaw } from './erasure.ts';
import type { LegalHold } from './legal-hold.entity.ts';
import { getLegalHold, liftLegalHold, placeLegalHold } from './legal-holds.ts';
import { getErasure, stopErasure } from './stop-erasure.ts';

interface Ports extends DecisionPorts {
  config: Pick<Config, 'NODE_ENV'> & ErasureTerms;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/users', tag: 'Users' });

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
        '`waiting` until `due_at`; `erasing` while key and files are being destroyed; `erased` when no live data ' +
          'names the person; `complete` when no backup of the person’s key is left.',
      ),
    held_because: z.string().nullable().describe('What blocks the erasure; checked every day.'),
    begun_at: timestamp(),
    due_at: timestamp().describe('The earliest time at which the person is erased.'),
    erased_at: timestamp().nullable(),
    complete_at: timestamp().nullable().describe('When it completes or completed.'),
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
    summary: 'Propose erasing a person',
    description:
      'Creates a decision of kind `erase_person`, which another person must approve (`POST ' +
      '/v1/decisions/:id/approve`). 400, with the reason, while the person has money or obligations: a balance, an ' +
      'open payment, withdrawal, subscription, circle or cause. Once approved, it waits `ERASURE_WAIT_HOURS`; ' +
      'then name and e-mail address, addresses, identity and bank documents and files are permanently deleted, the ' +
      'account is closed, and the books keep its id.',
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
    summary: 'Read the state of a person’s erasure',
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
    summary: 'Stop a waiting erasure',
    description: 'Needs one operator. 400 once the person has been erased, which cannot be undone.',
    access: allow('propose-decision', operators),
    params,
    answers: { 200: z.object({ message, data: ErasureAnswer }) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { user_id: userId }, requestId }) => {
    const stopped = await stopErasure(em, { caller, userId, requestId });
    return { message: 'Erasure stopped', data: present(stopped, deps.config) };
  },
);

const HoldAnswer = z
  .object({
    id: uuid(),
    user_id: uuid(),
    note: z.string(),
    placed_by: uuid(),
    placed_at: timestamp(),
    lifted_by: uuid().nullable(),
    lifted_at: timestamp().nullable(),
  })
  .meta({ id: 'LegalHold' });

const presentHold = ({ id, user_id, note, placed_by, placed_at, ...hold }: LegalHold): z.input<typeof HoldAnswer> => ({
  id,
  user_id,
  note,
  placed_by,
  placed_at: placed_at.toISOString(),
  lifted_by: hold.lifted_by ?? null,
  lifted_at: hold.lifted_at?.toISOString() ?? null,
});

routes.post(
  '/:user_id/legal-hold',
  {
    summary: 'Place a legal hold on a person',
    description:
      'Nobody can erase the person until another operator lifts it; a waiting erasure keeps waiting. 400 if there is ' +
      'one already, or if the person has been erased or was only invited.',
    access: allow('propose-decision', operators),
    params,
    body: z.strictObject({ note: noteOfDecision() }),
    answers: { 201: z.object({ message, data: HoldAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { user_id: userId }, body: { note }, requestId }) => {
    const hold = await placeLegalHold(em, { caller, userId, requestId, note });
    return created({ message: 'Legal hold placed', data: presentHold(hold) });
  },
);

routes.get(
  '/:user_id/legal-hold',
  {
    summary: 'Read the legal hold on a person',
    description: '404 if there is none.',
    access: allow(['propose-decision', 'approve-decision'], operators),
    params,
    answers: { 200: z.object({ message, data: HoldAnswer }) },
    refusals: [404],
  },
  async ({ em, params: { user_id } }) => ({
    message: 'Legal hold found',
    data: presentHold(await getLegalHold(em, user_id)),
  }),
);

routes.delete(
  '/:user_id/legal-hold',
  {
    summary: 'Lift the legal hold of a person',
    description:
      '403 for the person who placed it or is under it, and, outside development, for a session without a second factor. ' +
      'An erasure that it blocked continues within a day.',
    access: allow('approve-decision', operators),
    params,
    answers: { 200: z.object({ message, data: HoldAnswer }) },
    refusals: [403, 404],
  },
  async ({ em, deps, caller, params: { user_id: userId }, requestId }) => {
    const needsSecondFactor = deps.config.NODE_ENV !== 'development';
    const hold = await liftLegalHold(em, { caller, userId, needsSecondFactor, requestId });
    return { message: 'Legal hold lifted', data: presentHold(hold) };
  },
);

export const erasureRoutes = routes;
