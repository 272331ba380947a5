import { z } from 'zod';
import { TimelineShape } from '../../partners/timeline.ts';
import { withPartnerName, withPartnerNames } from '../../partners/with-partner-names.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { externalRef, periodEnd, periodStart, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { findPartnerPayments, getAnyPartnerPayment } from './find-partner-payments.ts';
import { partnerPaymentStatuses } from './partner-payment.ts';
import { tellPartnerPayment } from './payment-timeline.ts';
import { OperatorsPaymentShape, presentOperatorsPayment } from './present-partner-payment.ts';

interface Ports {
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/partner-payments', tag: 'Operations' });
const reads = allow('read-event', { userTypes: ['platform'], scope: 'all' });
const params = z.object({ id: uuid() });

routes.get(
  '/',
  {
    summary: "List every partner's payments, newest first",
    description: 'A date without a time in `from` or `to` means the whole day in UTC+7.',
    access: reads,
    query: listQuery().extend({
      partner_id: uuid().optional(),
      status: z.enum(partnerPaymentStatuses).optional(),
      reference: externalRef().optional().meta({ description: "The payment's id, or the partner's own reference." }),
      external_ref: externalRef().optional().meta({ description: "The partner's own reference." }),
      kind: z.literal('partner_payment').optional().meta({ description: 'The only kind.' }),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(OperatorsPaymentShape), ...pageFields }) }),
    },
  },
  async ({ em, query, deps }) => {
    const { partner_id: partnerId, external_ref: externalRef, kind: _, ...rest } = query;
    const { items, ...listed } = await findPartnerPayments(em, { ...rest, partnerId, externalRef });
    const shown = await Promise.all(items.map((item) => presentOperatorsPayment(deps.sealer, item)));
    return {
      message: 'Payments found',
      data: { items: await withPartnerNames(em, shown), ...presentPage(query, listed) },
    };
  },
);

routes.get(
  '/:id',
  {
    summary: "Read a partner's payment",
    access: reads,
    params,
    answers: { 200: z.object({ message: z.string(), data: OperatorsPaymentShape }) },
    refusals: [404],
  },
  async ({ em, params: { id }, deps }) => {
    const shown = await presentOperatorsPayment(deps.sealer, await getAnyPartnerPayment(em, id));
    return { message: 'Payment found', data: await withPartnerName(em, shown) };
  },
);

routes.get(
  '/:id/timeline',
  {
    summary: "What happened to a partner's payment, and what happens next",
    access: reads,
    params,
    answers: { 200: z.object({ message: z.string(), data: TimelineShape }) },
    refusals: [404],
  },
  async ({ em, params: { id } }) => {
    const { payment } = await getAnyPartnerPayment(em, id);
    return { message: 'Timeline found', data: await tellPartnerPayment(em, payment) };
  },
);

export const operatorsPaymentsRoutes = routes;
