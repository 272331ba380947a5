import { z } from 'zod';
import { DecidedTimelineShape } from '../../partners/timeline.ts';
import { withPartnerName, withPartnerNames } from '../../partners/with-partner-names.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { amount, externalRef, periodEnd, periodStart, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { findAllPayouts, getAnyPayout } from './find-payouts.ts';
import { findStuckPayouts } from './find-stuck-payouts.ts';
import type { PayoutKinds } from './handling.ts';
import { OperatorsPayoutShape, presentOperatorsPayout } from './operators-payout.ts';
import { payoutKinds, payoutLaw } from './payout.ts';
import { tellPayoutTimeline } from './payout-timeline.ts';

/** Default age in minutes at which payouts are listed as stuck. */
const standardMinutes = 10;
const longestMinutes = 527_040;

interface Ports {
  sealer: Sealer;
  config: Pick<Config, 'PAYOUT_RESEND_HOURS'>;
  payoutKinds: PayoutKinds;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/payouts',
  tag: 'Operations',
  description: 'Items that operators have to handle.',
});

const reads = allow('read-event', { userTypes: ['platform'], scope: 'all' });

routes.get(
  '/stuck',
  {
    summary: 'List payouts that are unknown, accepted for over a day or contradicted, and unknown transfers',
    description:
      'Unknown for at least `minutes` minutes (0 is allowed), longest first. A payout accepted by the ' +
      'provider counts as unknown from a day after it was first sent. A payout that two people settled as ' +
      'failed is listed until the provider reports its outcome. See docs/runbook/payout-unknown.md.',
    access: reads,
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
              payout_id: uuid().nullable().describe('Null for an unknown transfer.'),
              kind: z.enum(payoutKinds).nullable(),
              provider_id: z.string().nullable().describe("The provider's id of a second or unknown transfer."),
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

routes.get(
  '/',
  {
    summary: 'List payouts of every kind, newest first',
    description: "Partners' payouts, withdrawals, disbursements and refunds. A bare date is the whole day of UTC+7.",
    access: reads,
    query: listQuery().extend({
      partner_id: uuid().optional(),
      status: z.enum(payoutLaw.statuses).optional(),
      reference: text(40)
        .optional()
        .meta({ description: "The platform's own reference.", examples: ['PO-019BBFA1B2E07F28A93B'] }),
      external_ref: externalRef().optional().meta({ description: "The partner's own reference." }),
      kind: z.enum(payoutKinds).optional(),
      payment_id: uuid().optional().meta({ description: 'Refunds of this payment.' }),
      user_id: uuid().optional().meta({ description: 'Withdrawals and disbursements that this user requested.' }),
      bank_code: text(64)
        .optional()
        .meta({ examples: ['BCA'] }),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(OperatorsPayoutShape), ...pageFields }) }),
    },
  },
  async ({ em, deps, query }) => {
    const { page, limit, after, order, ...filter } = query;
    const { items, ...listed } = await findAllPayouts(em, filter, { page, limit, after, order });
    const shown = await Promise.all(items.map((item) => presentOperatorsPayout(deps.sealer, item)));
    return {
      message: 'Payouts found',
      data: { items: await withPartnerNames(em, shown), ...presentPage(query, listed) },
    };
  },
);

const params = z.object({ id: uuid() });

routes.get(
  '/:id',
  {
    summary: 'Read a payout of any kind',
    access: reads,
    params,
    answers: { 200: z.object({ message: z.string(), data: OperatorsPayoutShape }) },
    refusals: [404],
  },
  async ({ em, deps, params: { id } }) => {
    const shown = await presentOperatorsPayout(deps.sealer, await getAnyPayout(em, id));
    return { message: 'Payout found', data: await withPartnerName(em, shown) };
  },
);

routes.get(
  '/:id/timeline',
  {
    summary: 'What happened to a payout of any kind, and what happens next',
    access: reads,
    params,
    answers: { 200: z.object({ message: z.string(), data: DecidedTimelineShape }) },
    refusals: [404],
  },
  async ({ em, deps, params: { id } }) => {
    const { payout } = await getAnyPayout(em, id);
    const facts = { resendHours: deps.config.PAYOUT_RESEND_HOURS, payoutKinds: deps.payoutKinds };
    return { message: 'Timeline found', data: await tellPayoutTimeline(em, payout, facts) };
  },
);

export const operatorsPayoutsRoutes = routes;
