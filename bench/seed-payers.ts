import { systemAccounts } from '../src/ledger/accounts/account.ts';
import { withTime } from '../src/platform/database/database-time-outs.ts';
import { budgets } from '../src/shared/budgets.ts';
import { newId } from '../src/shared/ids.ts';
import { type BenchStack, vacuum } from './stack.ts';

/** Users, each with a token and a funded account, and causes, each with an account. */
export interface Payers {
  userIds: string[];
  tokens: string[];
  accountIds: string[];
  causeIds: string[];
  causeAccountIds: string[];
  /** Each payer's opening balance, IDR. */
  opening: number;
  /** Earlier payments of IDR 1. */
  past: number;
}

const pastAtOnce = 250;

const ids = (count: number) => Array.from({ length: count }, newId);
const array = (values: readonly string[]) => `{${values.join(',')}}`;

/** Seeds payers and causes, with balances from journals, so that every check passes. */
export async function seedPayers({ databaseUrl, owner, deps }: BenchStack, count: number): Promise<Payers> {
  const em = owner();
  const opening = 1_000_000_000;
  const [userIds, accountIds, causeIds, causeAccountIds] = [ids(count), ids(count), ids(count), ids(count)] as const;
  await em.execute(
    `insert into users (id, user_type, role_id, status, password_sealed)
     select u, 'individual', r.id, 'active', 'none'
     from unnest(?::uuid[]) u, roles r where r.name = 'individual_user'`,
    [array(userIds)],
  );
  await em.execute(
    `insert into accounts (id, name, kind, user_id)
     select a, 'Main', 'user', u from unnest(?::uuid[], ?::uuid[]) as x (a, u)`,
    [array([...accountIds, ...causeAccountIds]), array([...userIds, ...userIds])],
  );
  await em.execute(
    `select write_journal(gen_random_uuid(), 'bench/funded', 'bench', array[?::uuid] || ?::uuid[],
       array[?::numeric] || array_fill(?::numeric, array[?::int]))`,
    [systemAccounts.gatewayClearing, array(accountIds), -opening * count, opening, count],
  );
  await em.execute(
    `insert into charitable_causes (id, name, description, target_amount, regulations, benefit, owner_type, account_id,
       status, created_by)
     select c, 'Well', 'A well', 1000000, 'none', 'water', 'individual', a, 'pending', u
     from unnest(?::uuid[], ?::uuid[], ?::uuid[]) as x (c, a, u)`,
    [array(causeIds), array(causeAccountIds), array(userIds)],
  );
  await em.execute(
    `update charitable_causes set status = 'active', approved_at = now(), approved_by = created_by
     where id = any (?::uuid[])`,
    [array(causeIds)],
  );
  // Earlier payments: with empty tables the planner would choose, and keep, sequential scans for the first statements.
  for (let from = 0; from < count; from += pastAtOnce) {
    const slice = (all: readonly string[]) => array(all.slice(from, from + pastAtOnce));
    await withTime(em, budgets.database.command, (tx) =>
      tx.execute(
        `with paid as materialized (
           select made.* from (
             select jsonb_agg(jsonb_build_object('transaction_id', md5(p.u::text)::uuid,
                 'journal_id', gen_random_uuid(), 'kind', 'balance-payment.bench', 'user_id', p.u,
                 'user_type', 'individual', 'source_account_id', p.a, 'amount', 1, 'reference_type', 'donation',
                 'reference_id', p.cause, 'purpose', 'product_transfer', 'answer', '')) as payments,
               array_agg(p.c) as targets
             from unnest(?::uuid[], ?::uuid[], ?::uuid[], ?::uuid[]) as p (u, a, c, cause)) asked,
           lateral pay_from_balances(asked.payments, targets_at(asked.targets)) made)
         select settle_donations('specific', (select array_agg(payment) from paid where outcome = 'paid'))`,
        [slice(userIds), slice(accountIds), slice(causeAccountIds), slice(causeIds)],
      ),
    );
    await vacuum(databaseUrl);
  }
  const tokens: string[] = [];
  for (const userId of userIds) {
    tokens.push((await deps.tokens.sign({ userId, userType: 'individual', organizationId: null })).token);
  }
  return { userIds, tokens, accountIds, causeIds, causeAccountIds, opening, past: count };
}
