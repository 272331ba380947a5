import type { EntityManager } from '@mikro-orm/postgresql';
import { ConfigError } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import { applicationRole, keysRole } from './database-roles.ts';
import { settingNames } from './database-time-outs.ts';

/** The privileges of the current role. */
interface Standing {
  role: string;
  superuser: boolean;
  becomes_superuser: boolean;
  creates_roles: boolean;
  passes_row_security: boolean;
  replicates: boolean;
  becomes: string | null;
  owned: string | null;
  writable: string | null;
  changeable: string | null;
  calls: string | null;
  creates: boolean;
  reaches_months: boolean;
  temporary: boolean;
  silences: boolean;
  settings: string | null;
}

/** Tables that only functions may write. */
const provenTables = [
  'postings',
  'account_balances',
  'journals',
  'journal_keys',
  'transactions',
  'receipts',
  'payout_attempts',
  'cause_totals',
  'transaction_counts',
  'transaction_organizations',
  'transaction_receivers',
  'payout_tallies',
  'seals',
  'seal_journals',
  'closed_days',
  'closings',
  'archived_months',
];
/** The functions that the role may call (`baseline/roles.sql`); others could move money or delete without checks. */
const ownFunctions = [
  'are_agreed_keys',
  'pay_from_balances',
  'in_time',
  'lock_source',
  'lock_refund',
  'hold_balances',
  'post_journal',
  'record_transactions',
  'apply_receipt',
  'suspend_receipt',
  'settle_receipt',
  'book_external',
  'book_transfer',
  'unbook_transfer',
  'open_payout_attempt',
  'answer_payout_attempt',
  'close_payout_attempt',
  'keep_difference',
  'refusal',
  'targets_at',
  'targets_of_causes',
  'targets_of_products',
  'targets_of_saving_goals',
  'hold_causes',
  'hold_open_cause',
  'settle_donation',
  'settle_donations',
  'settle_product',
  'settle_products',
  'settle_saving_goal',
  'settle_saving_goals',
  'empty_saving_goal',
  'take_provider_call',
  'tell',
  'forget_rows',
  'callers_of',
  'write_seal',
  'close_day',
  'account_balance',
  'balance_after',
  'balance_before',
  'end_of_day',
  'committed_until',
  'is_day_sealed',
  'cause_current_amount',
  'missing_of_decision',
  'outcome_of_word',
  'decision_lives',
  'reserved_since',
  'tally_start',
  'disbursed_of_cause',
  'disbursable_of_cause',
  'unbooked_of_cause',
  'kept_for_cause',
  'kept_for_causes',
  'refund_account',
  'payouts_held',
  'refunded_of_payment',
  'standing_of_refund',
  'transfers_beyond_ours',
  'is_transfer_known',
  'owner_of_disbursement',
  'why_disbursement_ends',
  'refuse_old_snapshot',
  'await_replay',
  'is_operator',
  'brought_by',
  'why_not_admitting',
  'why_not_approving',
  'why_powerless',
  'hold_operator',
  'hold_of_person',
  'make_coming_month',
  'first_id_at',
  'is_archived',
  'find_month_problems',
  'checks_since',
  'checks_since_time',
  'checks_read_all',
  'whole_table',
];
/** Append-only tables. */
const keptTables = ['events'];
/** PostgreSQL's predefined roles that write any table or reach the server's files and programs. */
const mightyRoles = ['pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'];

/**
 * Throws ConfigError, naming every problem, if this connection's role could tamper with the ledger or the protection of
 * the keys; `variable` names the database's variable. On the schema of a later release the role may call functions that
 * this one does not know.
 */
export async function refuseMightyRole(
  em: EntityManager,
  variable: 'DATABASE_URL' | 'KEYS_DATABASE_URL' = 'DATABASE_URL',
  { isLater }: { isLater: boolean } = { isLater: false },
): Promise<void> {
  const [it] = await em.execute<[Standing]>(
    `with them as materialized (
       select m.oid from pg_roles m, pg_roles r where r.rolname = current_user and pg_has_role(r.oid, m.oid, 'MEMBER'))
     select r.rolname as role, r.rolsuper as superuser, may_be.superuser as becomes_superuser, may_be.creates_roles,
       may_be.passes_row_security, may_be.replicates,
       (select string_agg(m.rolname, ', ' order by m.rolname) from pg_roles m
          where not r.rolsuper and m.rolname = any (?::text[]) and pg_has_role(r.oid, m.oid, 'MEMBER')) as becomes,
       (select string_agg(c.relname, ', ' order by c.relname) from (select c.relname from pg_class c
          where c.relnamespace in (select oid from pg_namespace where nspname in ('public', 'months')) and c.relkind in ('r', 'p')
            and pg_has_role(r.oid, c.relowner, 'MEMBER') order by 1 limit 3) c) as owned,
       (select string_agg(t.name, ', ' order by t.name) from unnest(?::text[]) as t (name)
          where to_regclass('public.' || t.name) is not null
            and exists (select from them m where has_any_column_privilege(m.oid, to_regclass('public.' || t.name), 'INSERT, UPDATE')
              or has_table_privilege(m.oid, to_regclass('public.' || t.name), 'DELETE, TRUNCATE, TRIGGER'))) as writable,
       (select string_agg(t.name, ', ' order by t.name) from unnest(?::text[]) as t (name)
          where to_regclass('public.' || t.name) is not null
            and exists (select from them m where has_any_column_privilege(m.oid, to_regclass('public.' || t.name), 'UPDATE')
              or has_table_privilege(m.oid, to_regclass('public.' || t.name), 'DELETE, TRUNCATE, TRIGGER')))
         as changeable,
       (select string_agg(p.proname, ', ' order by p.proname) from pg_proc p
          where p.pronamespace = 'public'::regnamespace and p.proname <> all (?::text[])
            and exists (select from them m where has_function_privilege(m.oid, p.oid, 'EXECUTE'))) as calls,
       exists (select from them m where has_schema_privilege(m.oid, 'public', 'CREATE')
         or has_database_privilege(m.oid, current_database(), 'CREATE')) as creates,
       exists (select from pg_namespace n, them m where n.nspname = 'months'
         and has_schema_privilege(m.oid, n.oid, 'CREATE, USAGE')) as reaches_months,
       exists (select from them m where has_database_privilege(m.oid, current_database(), 'TEMPORARY')) as temporary,
       exists (select from them m where has_parameter_privilege(m.oid, 'session_replication_role', 'SET')
         and not r.rolsuper) as silences,
       (select string_agg(split_part(s.setting, '=', 1), ', ' order by s.setting)
          from pg_db_role_setting d cross join unnest(d.setconfig) as s (setting)
          where d.setrole = r.oid and d.setdatabase in (0, (select oid from pg_database where datname = current_database()))
            and split_part(s.setting, '=', 1) <> all (?::text[])) as settings
     from pg_roles r cross join lateral (select bool_or(m.rolsuper) as superuser, bool_or(m.rolcreaterole) as creates_roles,
       bool_or(m.rolbypassrls) as passes_row_security, bool_or(m.rolreplication) as replicates
       from pg_roles m where pg_has_role(r.oid, m.oid, 'MEMBER')) may_be
     where r.rolname = current_user`,
    [
      textArray(mightyRoles),
      textArray(provenTables),
      textArray(keptTables),
      textArray(ownFunctions),
      textArray(settingNames),
    ],
  );
  const wrong = [
    it.superuser && 'it is a superuser, which no trigger stops',
    !it.superuser && it.becomes_superuser && 'it may become a superuser, which no trigger stops',
    it.creates_roles && 'it may create roles',
    it.passes_row_security && 'it bypasses row security',
    it.replicates && 'it may copy the whole cluster',
    it.becomes !== null && `it may become ${it.becomes}, whether it inherits their rights or not`,
    it.owned !== null && `it owns tables (${it.owned}), or belongs to their owner, and so may disable their triggers`,
    it.writable !== null && `it may write ${it.writable} directly, bypassing the functions that check postings`,
    it.changeable !== null && `it may change ${it.changeable}, which is append-only`,
    it.calls !== null && !isLater && `it may call ${it.calls}, which write unchecked rows`,
    it.creates && 'it may create tables and functions',
    it.reaches_months && 'it has access to the partitions in the schema months, bypassing the rights of their tables',
    it.silences && 'it may set session_replication_role, which disables triggers',
    it.settings !== null &&
      `it has settings of its own (${it.settings}), which change what the product's statements mean`,
    it.temporary && 'it may create temporary tables, which its statements would find before ours',
  ].filter((sentence) => sentence !== false);
  if (wrong.length === 0) return;
  throw new ConfigError(
    `${variable} names the role ${it.role}, with which the process must not run in production: ${wrong.join('; ')}. ` +
      `Name ${variable === 'KEYS_DATABASE_URL' ? keysRole : applicationRole} there and the owner in MIGRATION_${variable}, and run "npm run migrate".`,
  );
}
