import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { amount, bomFlag, timestamp, uuid } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { sendDocument } from '../../platform/http/stream-document.ts';
import { isPlatform } from '../../shared/caller.ts';
import { westernIndonesiaDay } from '../../shared/clock.ts';
import { refuse } from '../../shared/errors.ts';
import { donationLaw, donationTypes } from './donation.ts';
import { donationStatementPage } from './donation-statement-page.ts';
import { donationStatementColumns, readDonationStatement } from './read-donation-statement.ts';

interface Ports {
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/donations', tag: 'Donations' });

/** No donation is from an earlier year. */
const firstYear = 2000;

const formats = ['json', 'csv', 'html'] as const;

routes.get(
  '/statements/:year',
  {
    summary: "Read the annual statement of the caller's donations",
    description:
      'Donations paid in a year (UTC+7, not in the future), oldest first, with totals; streamed. With `Accept: ' +
      'text/csv` the donations are lines of CSV under a header line; with `text/html`, as browsers send, a printable page.',
    access: allow('donate-charitable-cause', { scope: 'own' }),
    params: z.object({
      year: z
        .string()
        .regex(/^\d{4}$/, 'must be a year (YYYY)')
        .transform(Number)
        .refine((year) => year >= firstYear, `must be at least ${firstYear}`)
        .meta({ override: { type: 'integer', minimum: firstYear, examples: [2026] } }),
    }),
    query: z.object({ bom: bomFlag() }),
    formats,
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          year: z.int(),
          donor_id: uuid(),
          donor_name: z.string(),
          currency: z.literal('IDR'),
          count: z.int(),
          donated: amount(),
          refunded: amount().meta({ description: 'The refunded part of `donated`.' }),
          total: amount().meta({ description: '`donated` less `refunded`.' }),
          donations: z.array(
            z.object({
              donation_id: uuid(),
              donated_at: timestamp().meta({ description: 'When it was paid.' }),
              type: z.enum(donationTypes),
              cause_id: uuid().nullable().meta({ description: 'Null while open and unallocated.' }),
              cause_name: z.string().nullable(),
              amount: amount(),
              status: z.enum(donationLaw.statuses),
            }),
          ),
        }),
      }),
    },
  },
  async ({ em, deps, caller, params: { year }, query: { bom }, ctx }) => {
    const thisYear = Number(westernIndonesiaDay(new Date()).slice(0, 4));
    if (year > thisYear) refuse('REQUEST_INVALID', 'must not be in the future', { field: 'year' });
    const form = {
      envelope: { message: 'Donations found' },
      list: 'donations',
      columns: donationStatementColumns,
      page: donationStatementPage,
      bom,
    };
    const { userId } = caller;
    const read = () => readDonationStatement(em, deps.sealer, { userId, year });
    return sendDocument(
      ctx,
      { reader: { id: userId, signedUp: !isPlatform(caller) }, name: `donations-${year}`, formats },
      form,
      read,
    );
  },
);

export const donationStatementsRoutes = routes;
