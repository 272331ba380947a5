import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { findStuckPayouts } from './find-stuck-payouts.ts';
import { payoutKinds } from './payout.ts';

/** Payouts are listed as stuck after ten minutes, unless the query says otherwise. */
const standardMinutes = 10;
const longestMinutes = 527_040;

const routes = createRouteGroup({
  prefix: '/v1/payouts',
  tag: 'Operations',
  description: 'What operators have to handle.',
});

routes.get(
  '/stuck',
  {
    summary:
      'List payouts whose outcome is unknown, accepted for more than a day or contradicted, and transfers beyond ours',
    description:
      'Unknown for at least `minutes` minutes (0 is allowed), the longest first. One that the provider has accepted counts ' +
      'as unknown from a day after it was first sent. See docs/operations.md.',
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    query: listQuery()
      .omit({ order: true })
      .extend({
        minutes: z
          .string()
          .refine(
            (value) => /^\d{1,6}$/.test(value) && Number(value) <= longestMinutes,
            `must be a whole number from 0 to ${longestMinutes}`,
          )
          .transform(Number)
          .default(standardMinutes)
          .meta({ override: { type: 'integer', minimum: 0, maximum: longestMinutes, default: standardMinutes } }),
      }),
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          items: z.array(
            z.object({
              payout_id: uuid().nullable().describe('Null for a transfer that nobody here knows.'),
              kind: z.enum(payoutKinds).nullable(),
              provider_id: z.string().nullable().describe("The provider's id of a further or unknown transfer."),
              partner_id: uuid().nullable(),
              reference: z.string(),
              amount: amount(),
              unknown_since: timestamp(),
              age_seconds: z.int(),
              reason: z.string(),
            }),
          ),
          ...pageFields,
        }),
      }),
    },
  },
  async ({ em, query }) => {
    const { items, ...listed } = await findStuckPayouts(em, query);
    return { message: 'Stuck payouts found', data: { items, ...presentPage(query, listed) } };
  },
);

export const stuckPayoutsRoutes = routes;
