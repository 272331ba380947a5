import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { amount, isoDate, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { findReconciliations } from './find-reconciliations.ts';
import { differenceKinds, reconciledResources, reconciliationLaw } from './reconciliation.ts';

const routes = createRouteGroup({ prefix: '/v1/reconciliations', tag: 'Operations' });

const side = z.object({ status: z.string(), amount: amount().nullable() }).nullable();

routes.get(
  '/',
  {
    summary: "List differences between our books and the provider's, newest first",
    description:
      'Found by the daily comparison, or by `npm run reconcile`. `ours` or `theirs` is null if that side has no ' +
      'record; a provider record that cannot be read is `unreadable`. `resolved`: a later comparison of the same day ' +
      'no longer found it. `explained`: an operator explained it.',
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    query: listQuery().extend({
      day: isoDate().optional(),
      state: z.enum(reconciliationLaw.statuses).optional(),
      resource_type: z.enum(reconciledResources).optional(),
    }),
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          items: z.array(
            z
              .object({
                id: uuid(),
                day: isoDate(),
                kind: z.enum(differenceKinds),
                resource_type: z.enum(reconciledResources),
                resource_id: uuid().nullable(),
                reference: z.string(),
                provider_id: z.string().nullable().describe("The provider's id of the money; null if it has none."),
                ours: side,
                theirs: side,
                state: z.enum(reconciliationLaw.statuses),
                note: z.string().nullable(),
                created_at: timestamp(),
                updated_at: timestamp(),
              })
              .meta({ id: 'Reconciliation' }),
          ),
          ...pageFields,
        }),
      }),
    },
  },
  async ({ em, query }) => {
    const { day, state, resource_type, ...window } = query;
    const { items, ...listed } = await findReconciliations(em, { day, state, resource_type }, window);
    return {
      message: 'Reconciliations found',
      data: {
        items: items.map(({ subject, resource_id, note, ours, theirs, created_at, updated_at, ...rest }) => ({
          ...rest,
          provider_id: theirs ? subject : null,
          resource_id: resource_id ?? null,
          ours: ours ?? null,
          theirs: theirs ?? null,
          note: note ?? null,
          created_at: created_at.toISOString(),
          updated_at: updated_at.toISOString(),
        })),
        ...presentPage(query, listed),
      },
    };
  },
);

export const reconciliationsRoutes = routes;
