import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { timestamp, uuid, verbatimText } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { foundTypes, mostFound, search } from './search.ts';

interface Ports {
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/search', tag: 'Operations' });

routes.get(
  '/',
  {
    summary: 'Search by id, reference or e-mail address',
    description:
      `Finds exact matches of an id, a reference, an external reference, an id of the provider, or an e-mail address in ` +
      `any case: newest first, at most ${mostFound}.`,
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    query: z.object({
      q: verbatimText(254)
        .regex(/\S/, 'must not be empty')
        .meta({ examples: ['PO-019BBFA1B2E07F28A93B'] }),
    }),
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          items: z.array(
            z
              .object({
                type: z
                  .enum(foundTypes)
                  .meta({ description: 'The type of the result; payouts, withdrawals and refunds are `payout`.' }),
                id: uuid(),
                text: z.string().meta({ description: 'Its reference, amount and status, never personal data.' }),
                at: timestamp().meta({ description: 'When it was created.' }),
              })
              .meta({ id: 'Found' }),
          ),
        }),
      }),
    },
  },
  async ({ em, deps, caller, query: { q }, requestId }) => {
    const found = await search(em, deps.sealer, { q, caller, requestId });
    return {
      message: 'Search done',
      data: { items: found.map(({ at, ...rest }) => ({ ...rest, at: at.toISOString() })) },
    };
  },
);

export const searchRoutes = routes;
