import { z } from 'zod';
import { partnerAnswer } from '../../partners/partner-answer.ts';
import { aboutPayouts } from '../../partners/reference-tags.ts';
import { TimelineShape } from '../../partners/timeline.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { partner } from '../../platform/http/access.ts';
import {
  externalRef,
  moneyString,
  nameAtBank,
  periodEnd,
  periodStart,
  text,
  uuid,
} from '../../platform/http/fields.ts';
import { metadata } from '../../platform/http/metadata.ts';
import { pageFields, partnerListQuery, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { must } from '../../shared/assert.ts';
import { createPayout } from './create-payout.ts';
import { findPayouts, getPayout } from './find-payouts.ts';
import type { PayoutKinds } from './handling.ts';
import type { PayoutWorkflows } from './payout.ts';
import { payoutLaw, payoutPath } from './payout.ts';
import { tellPayoutTimeline } from './payout-timeline.ts';
import {
  ListedPayoutShape,
  PayoutShape,
  presentListedPayout,
  presentReservation,
  presentWholePayout,
} from './present-payout.ts';

/** The body of a new payout, and of an item of a batch. */
export const NewPayout = z.strictObject({
  amount: moneyString(),
  bank_code: text(32).meta({ description: 'A `bank_code` of `GET /v1/partners/channels`.' }),
  bank_account_number: text(34),
  beneficiary_name: nameAtBank(100)
    .optional()
    .meta({
      description:
        "The account holder's name on record at the bank. Without it we send the account number as the name: " +
        'if the bank compares names, the payout fails with ACCOUNT_NAME_MISMATCH.',
    }),
  external_ref: externalRef().optional(),
  metadata: metadata(),
});

interface Ports {
  payoutKinds: PayoutKinds;
  config: Pick<Config, 'PAYOUT_RESEND_HOURS'>;
  sealer: Sealer;
  workflows: Pick<PayoutWorkflows, 'startPartnerPayout'>;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/partners/payouts',
  tag: 'Partner API',
  description: aboutPayouts,
});
const params = z.object({ id: uuid() });

routes.post(
  '/',
  {
    summary: 'Pay out to a bank account',
    description:
      'Returns as soon as the money is reserved; the transfer continues in the background. `DEDUCTED`: ' +
      'amount is reserved and amount − fee reaches the bank; `ADDED`: amount + fee is reserved and amount ' +
      'reaches the bank. What reaches the bank must be whole rupiah. While the outcome is unknown, the payout stays ' +
      '`pending` with its money reserved.',
    access: partner('request-payout', { bodySignatureSuffices: true }),
    body: NewPayout,
    idempotent: true,
    answers: { 200: partnerAnswer(PayoutShape) },
    refusals: [409, 422, 503],
  },
  async ({ em, deps, caller, body, requestId }) => {
    const { partnerId } = caller;
    const idempotency = must(caller.idempotency, 'an idempotent route has a key');
    const payout = await createPayout(em, deps, { partnerId, body, idempotency, requestId });
    return { ...(await presentReservation(deps.sealer, payout)), status_url: payoutPath(payout.id) };
  },
);

routes.get(
  '/',
  {
    summary: "List the partner's payouts, newest first",
    access: partner('read-gateway'),
    description: 'A date without a time in `from` or `to` means the whole day in UTC+7.',
    query: partnerListQuery().extend({
      status: z.enum(payoutLaw.statuses).optional(),
      external_ref: externalRef().optional(),
      reference: text(40)
        .optional()
        .meta({ examples: ['PO-019BBFA1B2E07F28A93B'] }),
      bank_code: text(64)
        .optional()
        .meta({ examples: ['BCA'] }),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: { 200: partnerAnswer(z.object({ items: z.array(ListedPayoutShape), ...pageFields })) },
  },
  async ({ em, deps, caller, query }) => {
    const { page, limit, after, ...filter } = query;
    const { items, ...listed } = await findPayouts(em, caller.partnerId, filter, { page, limit, after });
    const shown = await Promise.all(items.map((payout) => presentListedPayout(deps.sealer, payout)));
    return { items: shown, ...presentPage(query, listed) };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a payout',
    access: partner('read-gateway'),
    params,
    answers: { 200: partnerAnswer(PayoutShape) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id } }) =>
    presentWholePayout(deps.sealer, await getPayout(em, caller.partnerId, id)),
);

routes.get(
  '/:id/timeline',
  {
    summary: 'What happened to a payout, in plain words, and what happens next',
    access: partner('read-gateway'),
    params,
    answers: { 200: partnerAnswer(TimelineShape) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id } }) =>
    tellPayoutTimeline(em, await getPayout(em, caller.partnerId, id), {
      resendHours: deps.config.PAYOUT_RESEND_HOURS,
      payoutKinds: deps.payoutKinds,
      sealer: deps.sealer,
    }),
);

export const payoutsRoutes = routes;
