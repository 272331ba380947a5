import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import { accountKinds } from '../accounts/account.ts';

interface PostingRow {
  kind: string;
  created_at: Date | string;
  account_id: string;
  account_kind: (typeof accountKinds)[number];
  /** IDR, scale 4, signed. */
  amount: Money;
}

const findPostings = `select j.kind, j.created_at, p.account_id, a.kind as account_kind, p.amount
  from journals j join postings p on p.journal_id = j.id join accounts a on a.id = p.account_id
  where j.id = ? order by p.id`;

const routes = createRouteGroup({ prefix: '/v1/journals', tag: 'Finance' });

routes.get(
  '/:id',
  {
    summary: 'Read a journal',
    description: 'With its postings, which sum to zero. Events name the journal of a change in `data.journal_id`.',
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    params: z.object({ id: uuid() }),
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          id: uuid(),
          kind: z.string(),
          created_at: timestamp(),
          postings: z.array(
            z.object({
              account_id: uuid(),
              account_kind: z.enum(accountKinds),
              amount: amount().meta({ description: 'Signed: negative is a debit.' }),
            }),
          ),
        }),
      }),
    },
    refusals: [404],
  },
  async ({ em, params: { id } }) => {
    const rows = await em.execute<PostingRow[]>(findPostings, [id]);
    const [first] = rows;
    if (first === undefined) refuse('NOT_FOUND', 'the journal was not found', { field: 'id' });
    const postings = rows.map(({ account_id, account_kind, amount }) => ({ account_id, account_kind, amount }));
    const created_at = new Date(first.created_at).toISOString();
    return { message: 'Journal found', data: { id, kind: first.kind, created_at, postings } };
  },
);

export const journalsRoutes = routes;
