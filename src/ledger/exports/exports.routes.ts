import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { amount, bomFlag, isoDate, timestamp, uuid } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { jsonOrCsv, sendDocument } from '../../platform/http/stream-document.ts';
import { bookDay } from '../seals/day-seal.ts';
import { balanceColumns, readDayBalances } from './read-balances.ts';
import { journalColumns, readJournals } from './read-journals.ts';

const finance = allow('read-event', { userTypes: ['platform'], scope: 'all' });
const dayQuery = z.object({
  day: isoDate().meta({ description: 'A day in UTC+7, not in the future.' }),
  bom: bomFlag(),
});
const dayFacts = {
  day: isoDate(),
  sealed: z.boolean().meta({ description: 'Whether it can no longer change.' }),
};

const routes = createRouteGroup({
  prefix: '/v1/exports',
  tag: 'Finance',
  description: 'The books of a day in UTC+7, for finance to close.',
});

routes.get(
  '/journals',
  {
    summary: 'Export the journals of a day',
    description:
      'Streamed, not paged: a row for each posting, in the order of writing. With `Accept: text/csv` the rows are ' +
      'lines of CSV under a header line. Once the day is sealed (01:00 UTC+7 of the next) `sealed` is true and ' +
      'the export never changes; until then rows may be added. The rows of all days add up to the balances.',
    access: finance,
    query: dayQuery,
    formats: jsonOrCsv,
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          ...dayFacts,
          rows: z.array(
            z.object({
              journal_id: uuid(),
              kind: z.string(),
              account_id: uuid(),
              amount: amount().meta({ description: 'Signed: negative is a debit.' }),
              created_at: timestamp(),
            }),
          ),
        }),
      }),
    },
  },
  async ({ em, caller, query, ctx }) => {
    const day = bookDay(query.day);
    const form = { envelope: { message: 'Journals found' }, list: 'rows', columns: journalColumns, bom: query.bom };
    const file = { reader: { id: caller.userId, signedUp: false }, name: `journals-${query.day}` };
    return sendDocument(ctx, file, form, () => readJournals(em, day));
  },
);

routes.get(
  '/balances',
  {
    summary: 'Export the balances of a day',
    description:
      'Opening and closing balance (today: the current balance) of each account on a day in UTC+7, streamed in the order ' +
      "of ids, without empty accounts that had no postings. `opening_balance` plus an account's rows in the export " +
      'of journals is its `closing_balance`, which is the next day’s opening balance. JSON or CSV; final once the ' +
      'day is sealed.',
    access: finance,
    query: dayQuery,
    formats: jsonOrCsv,
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          ...dayFacts,
          rows: z.array(
            z.object({ account_id: uuid(), kind: z.string(), opening_balance: amount(), closing_balance: amount() }),
          ),
        }),
      }),
    },
  },
  async ({ em, caller, query, ctx }) => {
    const day = bookDay(query.day);
    const form = { envelope: { message: 'Balances found' }, list: 'rows', columns: balanceColumns, bom: query.bom };
    const file = { reader: { id: caller.userId, signedUp: false }, name: `balances-${query.day}` };
    return sendDocument(ctx, file, form, () => readDayBalances(em, day));
  },
);

export const exportsRoutes = routes;
