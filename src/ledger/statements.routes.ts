import type { EntityManager } from '@mikro-orm/postgresql';
import { z } from 'zod';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { allow } from '../platform/http/access.ts';
import { amount, bomFlag, periodEnd, periodStart, timestamp, uuid } from '../platform/http/fields.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import { jsonOrCsv, sendDocument } from '../platform/http/stream-document.ts';
import { isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { isPartnerAccount } from './accounts/account.ts';
import { getAccount } from './find-accounts.ts';
import { type DescribePostings, readStatement, referenceColumns, statementColumns } from './read-statement.ts';

interface Ports {
  sealer: Sealer;
  /** Describes the subjects of journals on a partner's account. */
  describePostings: (tx: EntityManager, sealer: Sealer, ids: readonly string[]) => ReturnType<DescribePostings>;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/accounts', tag: 'Accounts' });

routes.get(
  '/:account_id/statement',
  {
    summary: "Read an account's statement",
    description:
      'Streamed, not paged, oldest posting first, from one snapshot of the ledger. With `Accept: text/csv` the ' +
      'postings are lines of CSV under a header line. On the accounts of a partner each posting also has `reference`, ' +
      '`external_ref` and `beneficiary_name`: those of its payment, payout or refund, null for anything else.',
    access: allow('read-account', { scope: "own; the organization's for its admins; all for platform" }),
    params: z.object({ account_id: uuid() }),
    query: z.object({ from: periodStart().optional(), to: periodEnd().optional(), bom: bomFlag() }),
    formats: jsonOrCsv,
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          opening_balance: amount(),
          closing_balance: amount(),
          postings: z.array(
            z.object({
              created_at: timestamp(),
              amount: amount().meta({ description: 'Signed: negative is a debit.' }),
              running_balance: amount(),
              journal_id: uuid(),
              kind: z.string(),
              reference: z.string().nullable().optional(),
              external_ref: z.string().nullable().optional(),
              beneficiary_name: z.string().nullable().optional(),
            }),
          ),
        }),
      }),
    },
    refusals: [404],
  },
  async ({ em, deps, caller, params, query: { from, to, bom }, ctx }) => {
    if (from && to && from >= to) refuse('REQUEST_INVALID', 'must not be after to', { field: 'from' });
    const { account } = await getAccount(em, caller, params.account_id);
    const describe: DescribePostings | undefined = isPartnerAccount(account.kind)
      ? (tx, journalIds) => deps.describePostings(tx, deps.sealer, journalIds)
      : undefined;
    const columns = describe ? [...statementColumns, ...referenceColumns] : statementColumns;
    const form = { envelope: { message: 'Statement found' }, list: 'postings', columns, bom };
    const file = { reader: { id: caller.userId, signedUp: !isPlatform(caller) }, name: `statement-${account.id}` };
    return sendDocument(ctx, file, form, () => readStatement(em, { accountId: account.id, from, to }, describe));
  },
);

export const statementsRoutes = routes;
