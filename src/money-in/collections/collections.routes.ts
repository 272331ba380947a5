import { z } from 'zod';
import { collectionMethods, feeMethods } from '../../partners/partner.ts';
import { partnerAnswer } from '../../partners/partner-answer.ts';
import { TimelineShape } from '../../partners/timeline.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { partner } from '../../platform/http/access.ts';
import {
  amount,
  email,
  externalRef,
  httpsUrl,
  moneyString,
  periodEnd,
  periodStart,
  text,
  timestamp,
  uuid,
} from '../../platform/http/fields.ts';
import { metadata } from '../../platform/http/metadata.ts';
import { pageFields, partnerListQuery, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { must } from '../../shared/assert.ts';
import { formatMoney } from '../../shared/money.ts';
import { cancelPartnerPayment } from './close-partner-payment.ts';
import { createPartnerPayment } from './create-partner-payment.ts';
import { findPartnerPayments, getPartnerPayment } from './find-partner-payments.ts';
import {
  longestLifetimeMinutes,
  type PartnerPaymentWorkflows,
  partnerPaymentStatuses,
  paymentPath,
} from './partner-payment.ts';
import { tellPartnerPayment } from './payment-timeline.ts';
import { PartnerPaymentShape, presentPartnerPayment } from './present-partner-payment.ts';
import { quote } from './price-request.ts';

interface Ports {
  sealer: Sealer;
  workflows: PartnerPaymentWorkflows;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/partners', tag: 'Partner API' });

const subject = {
  method: z.enum(collectionMethods),
  amount: moneyString(),
  channel: text(64).optional().meta({ description: 'Required for virtual_account and ewallet, omitted for qris.' }),
  organization_id: uuid()
    .optional()
    .meta({ examples: ['019bb1c2-5d80-7e16-9f4b-3a7c6e1d8b25'] }),
};

routes.post(
  '/quotes',
  {
    summary: 'Quote a payment or a payout',
    description:
      'No side effects. The fee is exact and never rounded; the amounts are the same as on creation. For a payout, ' +
      '`gross_amount` is reserved and `net_amount` reaches the bank; `net_amount` must be whole rupiah.',
    access: partner('collect-payment', { bodySignatureSuffices: true }),
    body: z.strictObject({
      ...subject,
      method: z.enum(feeMethods),
      bank_code: text(32)
        .optional()
        .meta({
          description: 'Required for payout without a check: a `bank_code` of `GET /v1/partners/channels`.',
          examples: ['BCA'],
        }),
      bank_account_check_id: uuid()
        .optional()
        .meta({
          description:
            'For a payout, instead of `bank_code`: a check from the last 24 hours, whose bank is used. If the bank ' +
            'has no such account, the quote is refused.',
          examples: ['019bbfb8-4c10-7d25-8e61-5b9a0c3f7d42'],
        }),
    }),
    answers: {
      200: partnerAnswer(
        z.object({
          amount: amount(),
          gross_amount: amount(),
          fee: amount(),
          net_amount: amount(),
          currency: z.literal('IDR'),
          quoted_at: timestamp(),
        }),
      ),
    },
  },
  async ({ body, caller, em }) => {
    const { organization_id: organizationId, bank_code: bankCode, bank_account_check_id: checkId, ...rest } = body;
    const asked = { ...rest, partnerId: caller.partnerId, organizationId, bankCode, checkId };
    const { gross, fee, net } = await quote(em, asked);
    return {
      amount: formatMoney(body.amount),
      gross_amount: gross,
      fee,
      net_amount: net,
      currency: 'IDR',
      quoted_at: new Date().toISOString(),
    };
  },
);

routes.post(
  '/payments',
  {
    summary: 'Create a payment',
    description:
      'Returns 200 with the payment instrument; nothing is paid yet. Waits at most 20 seconds for the ' +
      'provider: after that, PROVIDER_INDETERMINATE names the URL to poll, and a retry with the same key ' +
      'joins the request. The same key returns the first response byte for byte for at least 30 days.',
    access: partner('collect-payment', { bodySignatureSuffices: true }),
    body: z.strictObject({
      ...subject,
      external_ref: externalRef().optional(),
      customer_name: text(100).optional(),
      customer_email: email()
        .optional()
        .meta({ examples: ['budi@example.org'] }),
      customer_phone: z
        .string()
        .max(32, 'must have at most 32 characters')
        .overwrite((sent) => sent.replace(/[ ().-]/g, ''))
        .refine((number) => /^\+?\d{8,15}$/.test(number), 'must be 8 to 15 digits, with or without a leading +')
        .optional()
        .meta({
          description:
            'Required for OVO, which notifies this Indonesian mobile number: 08..., 628... or +628.... Spaces, ' +
            'dots, dashes and parentheses are ignored.',
          examples: ['+6281234567890'],
        }),
      expires_in_minutes: z
        .int()
        .min(1)
        .max(longestLifetimeMinutes)
        .optional()
        .meta({ examples: [60] }),
      return_url: httpsUrl()
        .optional()
        .meta({
          description:
            "The URL to which an e-wallet's checkout redirects the customer, paid or not; read the payment for its " +
            'status. By default, a page of ours that shows status and amount. Other methods do not redirect.',
          examples: ['https://partner.example/orders/2026-0042'],
        }),
      metadata: metadata(),
    }),
    idempotent: true,
    answers: { 200: partnerAnswer(PartnerPaymentShape) },
    refusals: [409, 502, 504],
  },
  async ({ body, caller, em, deps, requestId }) => {
    const { partnerId } = caller;
    const idempotency = must(caller.idempotency, 'the route is idempotent');
    const created = await createPartnerPayment(em, deps, { partnerId, body, idempotency, requestId });
    return { ...(await presentPartnerPayment(deps.sealer, created)), status_url: paymentPath(created.payment.id) };
  },
);

routes.get(
  '/payments',
  {
    summary: 'List payments, newest first',
    description: 'A date without a time in `from` or `to` means the whole day in UTC+7.',
    access: partner('read-gateway'),
    query: partnerListQuery().extend({
      status: z.enum(partnerPaymentStatuses).optional(),
      external_ref: externalRef().optional(),
      reference: externalRef().optional(),
      method: z.enum(collectionMethods).optional(),
      channel: text(64)
        .optional()
        .meta({ examples: ['BCA'] }),
      organization_id: uuid()
        .optional()
        .meta({ examples: ['019bba56-a840-7c3e-9a51-3f1d0c8e7b24'] }),
      instrument_id: uuid()
        .optional()
        .meta({
          description: 'Only payments to this reusable instrument.',
          examples: ['019bbfb5-1a40-7f36-9c58-2d7e0b4a6c93'],
        }),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: { 200: partnerAnswer(z.object({ items: z.array(PartnerPaymentShape), ...pageFields })) },
  },
  async ({ query, caller, em, deps }) => {
    const { external_ref: externalRef, organization_id: organizationId, instrument_id: instrumentId, ...rest } = query;
    const filter = { ...rest, externalRef, organizationId, instrumentId, partnerId: caller.partnerId };
    const { items, ...listed } = await findPartnerPayments(em, filter);
    const shown = await Promise.all(items.map((item) => presentPartnerPayment(deps.sealer, item)));
    return { items: shown, ...presentPage(query, listed) };
  },
);

const paymentParams = z.object({ id: uuid() });

routes.get(
  '/payments/:id',
  {
    summary: 'Read a payment',
    access: partner('read-gateway'),
    params: paymentParams,
    answers: { 200: partnerAnswer(PartnerPaymentShape) },
  },
  async ({ params, caller, em, deps }) =>
    presentPartnerPayment(
      deps.sealer,
      await getPartnerPayment(em, { partnerId: caller.partnerId, paymentId: params.id }),
    ),
);

routes.post(
  '/payments/:id/cancel',
  {
    summary: 'Cancel an open payment',
    description:
      'Expires the instrument at the provider, then sets the payment to `expired` and sends its webhook. If ' +
      'the customer paid first: PAYMENT_ALREADY_PAID. If the payment is already final and unpaid, it is ' +
      'returned unchanged. PROVIDER_INDETERMINATE if the provider does not confirm within 10 seconds: ' +
      'cancelling continues in the background, so poll or retry. Accepts no idempotency key.',
    access: partner('collect-payment'),
    params: paymentParams,
    answers: { 200: partnerAnswer(PartnerPaymentShape) },
    refusals: [409, 504],
  },
  async ({ params, caller, em, deps, requestId }) =>
    presentPartnerPayment(
      deps.sealer,
      await cancelPartnerPayment(em, deps.workflows, {
        partnerId: caller.partnerId,
        paymentId: params.id,
        requestId,
      }),
    ),
);

routes.get(
  '/payments/:id/timeline',
  {
    summary: 'What happened to a payment, and what happens next',
    access: partner('read-gateway'),
    params: paymentParams,
    answers: { 200: partnerAnswer(TimelineShape) },
  },
  async ({ params, caller, em }) => {
    const { payment } = await getPartnerPayment(em, { partnerId: caller.partnerId, paymentId: params.id });
    return tellPartnerPayment(em, payment);
  },
);

export const collectionsRoutes = routes;
