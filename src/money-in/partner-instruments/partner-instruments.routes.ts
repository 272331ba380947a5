import { z } from 'zod';
import { partnerAnswer } from '../../partners/partner-answer.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { partner } from '../../platform/http/access.ts';
import { externalRef, moneyString, periodEnd, periodStart, text, uuid } from '../../platform/http/fields.ts';
import { metadata } from '../../platform/http/metadata.ts';
import { pageFields, partnerListQuery, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { must } from '../../shared/assert.ts';
import { closePartnerInstrument } from './close-partner-instrument.ts';
import { createPartnerInstrument } from './create-partner-instrument.ts';
import { findInstruments, getInstrument } from './find-partner-instruments.ts';
import type { PartnerInstrumentWorkflows } from './partner-instrument.ts';
import { instrumentMethods, instrumentPath, partnerInstrumentLaw } from './partner-instrument.ts';
import { PartnerInstrumentShape, presentInstrument } from './present-partner-instrument.ts';

interface Ports {
  sealer: Sealer;
  workflows: PartnerInstrumentWorkflows;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/partners/instruments', tag: 'Partner API' });
const params = z.object({ id: uuid() });

routes.post(
  '/',
  {
    summary: 'Make an account number or QR code that a customer keeps',
    description:
      'It has no deadline. Every payment to it becomes a payment of its own (`instrument_id`), with the fee and limits of ' +
      'its channel; what was paid is the gross in both fee modes. With `amount` each payment has to be exactly that; what ' +
      'does not fit, and what comes after closing, is held for the operators. Waits at most 20 seconds for the provider.',
    access: partner('collect-payment'),
    body: z.strictObject({
      method: z.enum(instrumentMethods).meta({ description: 'How customers pay.' }),
      channel: text(64)
        .optional()
        .meta({ description: 'Required for virtual_account, omitted for qris.', examples: ['BCA'] }),
      amount: moneyString().optional().meta({ description: 'IDR, a whole amount. Without it any amount may be paid.' }),
      external_ref: externalRef().optional(),
      customer_name: text(100).optional().meta({ description: 'Shown to the customer by banks that show a name.' }),
      metadata: metadata(),
    }),
    idempotent: true,
    answers: { 200: partnerAnswer(PartnerInstrumentShape) },
    refusals: [409, 502, 504],
  },
  async ({ body, caller, em, deps, requestId }) => {
    const { partnerId } = caller;
    const idempotency = must(caller.idempotency, 'the route is idempotent');
    const created = await createPartnerInstrument(em, deps, { partnerId, body, idempotency, requestId });
    return { ...(await presentInstrument(deps.sealer, created)), status_url: instrumentPath(created.instrument.id) };
  },
);

routes.get(
  '/',
  {
    summary: 'List instruments, newest first',
    description: 'A bare date in `from` or `to` is the whole day of UTC+7.',
    access: partner('read-gateway'),
    query: partnerListQuery().extend({
      status: z.enum(partnerInstrumentLaw.statuses).optional().meta({ description: 'Only those with this status.' }),
      external_ref: externalRef().optional().meta({ description: 'Only those with exactly this reference of yours.' }),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: { 200: partnerAnswer(z.object({ items: z.array(PartnerInstrumentShape), ...pageFields })) },
  },
  async ({ query, caller, em, deps }) => {
    const { page, limit, after, ...filter } = query;
    const { items, ...listed } = await findInstruments(em, caller.partnerId, filter, { page, limit, after });
    const shown = await Promise.all(items.map((item) => presentInstrument(deps.sealer, item)));
    return { items: shown, ...presentPage(query, listed) };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read an instrument',
    access: partner('read-gateway'),
    params,
    answers: { 200: partnerAnswer(PartnerInstrumentShape) },
    refusals: [404],
  },
  async ({ params: { id }, caller, em, deps }) =>
    presentInstrument(deps.sealer, await getInstrument(em, { partnerId: caller.partnerId, id })),
);

routes.post(
  '/:id/close',
  {
    summary: 'Close an instrument',
    description:
      'It is ended at the provider first; what was paid before still becomes payments. One that is closed is answered as ' +
      'it is. PROVIDER_INDETERMINATE when the provider has not ended it within 10 seconds: it closes by itself.',
    access: partner('collect-payment'),
    params,
    answers: { 200: partnerAnswer(PartnerInstrumentShape) },
    refusals: [404, 504],
  },
  async ({ params: { id }, caller, em, deps, requestId }) =>
    presentInstrument(
      deps.sealer,
      await closePartnerInstrument(em, deps.workflows, { partnerId: caller.partnerId, instrumentId: id, requestId }),
    ),
);

export const partnerInstrumentsRoutes = routes;
