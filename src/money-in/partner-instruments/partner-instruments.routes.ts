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
    summary: 'Create a reusable account number or QR code',
    description:
      'It never expires. Each time it is paid, a payment is created (`instrument_id`), with the fee and ' +
      'limits of its channel; in both fee modes the amount paid is the gross amount. With `amount`, each ' +
      'payment must match it exactly; money that does not match or arrives after closing is held for the ' +
      'operators. Waits at most 20 seconds for the provider.',
    access: partner('collect-payment'),
    body: z.strictObject({
      method: z.enum(instrumentMethods).meta({ description: 'How customers pay.' }),
      channel: text(64)
        .optional()
        .meta({ description: 'Required for virtual_account, omitted for qris.', examples: ['BCA'] }),
      amount: moneyString()
        .optional()
        .meta({ description: 'A whole amount in IDR. Without it the customer may pay any amount.' }),
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
    description: 'A date without a time in `from` or `to` means the whole day in UTC+7.',
    access: partner('read-gateway'),
    query: partnerListQuery().extend({
      status: z
        .enum(partnerInstrumentLaw.statuses)
        .optional()
        .meta({ description: 'Only instruments with this status.' }),
      external_ref: externalRef()
        .optional()
        .meta({ description: 'Only instruments with exactly this reference of ' + 'yours.' }),
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
      'Cancels it at the provider first; money paid before still becomes payments. A closed instrument is ' +
      'returned unchanged. PROVIDER_INDETERMINATE if the provider does not confirm within 10 seconds: ' +
      'closing continues in the background.',
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
