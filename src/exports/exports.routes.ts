import { z } from 'zod';
import { allow } from '../http/access.ts';
import { amount, isoDate, timestamp, uuid } from '../http/fields.ts';
import { createRouteGroup } from '../http/route-group.ts';
import { documentFormat, sendDocument, streamDocument } from '../http/stream-document.ts';
import { bookDay } from '../seals/day-seal.ts';
import { journalColumns, readJournals } from './read-journals.ts';

const routes = createRouteGroup({
  prefix: '/v1/exports',
  tag: 'Finance',
  description: 'The books of a day of UTC+7, for the close of finance.',
});

routes.get(
  '/journals',
  {
    summary: 'Export the journals of a day',
    description:
      'Not paged but streamed: a row for each posting, in the order in which they were written. With `Accept: text/csv` ' +
      'the rows are lines of CSV under a header line. Once the day is sealed (01:00 UTC+7 of the next) `sealed` is true ' +
      'and the export never changes; until then rows may be added. The rows of all days together are the balances.',
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    query: z.object({ day: isoDate().meta({ description: 'A day in UTC+7, today at the latest.' }) }),
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          day: isoDate(),
          sealed: z.boolean().meta({ description: 'Whether it is fixed for ever.' }),
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
    const format = documentFormat(ctx);
    const form = { format, envelope: { message: 'Journals found' }, list: 'rows', columns: journalColumns };
    return sendDocument(format, await streamDocument(caller.userId, form, () => readJournals(em, day)));
  },
);

export const exportsRoutes = routes;
