import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { type Gateways, isProviderUnknown } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Money } from '../../shared/money.ts';
import { version } from '../../shared/version.ts';

/** Kinds of waiting rows that need a person; the system retries all others before operators need to act. */
const forPeople: ReadonlySet<string> = new Set([
  'payouts_held',
  'unknown_payouts',
  'contradicted_payouts',
  'accepted_payouts',
  'suspended_receipts',
  'money_of_erased',
  'unreceipted_payments',
  'settling_payments',
  'unread_callbacks',
  'open_reconciliations',
  'new_approvers',
  'pending_decisions',
]);

/** The number of waiting rows of a kind, and since when the oldest waits. */
export interface Backlog {
  what: string;
  rows: number;
  oldest: Date | null;
}

/** The operators' overview: amounts in IDR, scale 4; times by the database's clock. */
export interface Overview {
  at: Date;
  cases: Backlog[];
  backlog: Backlog[];
  /** The last day whose comparison with the provider is complete; null before the first. */
  reconciliation: { day: string; finished_at: Date } | null;
  clearing: {
    books: Money;
    /** The provider's balance now; null when the provider does not answer. */
    provider: Money | null;
    last_comparison: { day: string; measured_at: Date; difference: Money; agreed: boolean } | null;
  };
  last_seal: { number: string; sealed_at: Date; covers_until: Date | null } | null;
  /** Versions of the API and its dependencies; Temporal's is null when it is unreachable. */
  versions: { amanah: string; node: string; postgresql: string; temporal: string | null };
}

/** The overview's dependencies besides the database. */
export interface OverviewPorts {
  gateways: Pick<Gateways, 'readBalance'>;
  workflows: { serverVersion(): Promise<string> };
  /** Reads rows that wait for a person or a retry, by kind. */
  readBacklog(em: EntityManager): Promise<Backlog[]>;
}

/** Reads everything now; null for facts of the provider or Temporal while it is down. */
export async function readOverview(
  em: EntityManager,
  { gateways, workflows, readBacklog }: OverviewPorts,
): Promise<Overview> {
  const [provider, temporal] = await Promise.all([
    gateways.readBalance({ signal: AbortSignal.timeout(budgets.provider.call) }).catch((error: unknown) => {
      if (!isProviderUnknown(error)) throw error;
      return null;
    }),
    workflows.serverVersion().catch(() => null),
  ]);
  const facts = await readFacts(em);
  const waiting = [...(await readBacklog(em)), await readPendingDecisions(em)];
  const { at, books, postgresql, reconciliation, last_comparison, last_seal } = facts;
  return {
    at: new Date(at),
    cases: waiting.filter(({ what }) => forPeople.has(what)),
    backlog: waiting.filter(({ what }) => !forPeople.has(what)),
    reconciliation: reconciliation && { ...reconciliation, finished_at: new Date(reconciliation.finished_at) },
    clearing: {
      books,
      provider,
      last_comparison: last_comparison && {
        ...last_comparison,
        measured_at: new Date(last_comparison.measured_at),
      },
    },
    last_seal: last_seal && {
      number: last_seal.number,
      sealed_at: new Date(last_seal.sealed_at),
      covers_until: last_seal.covers_until === null ? null : new Date(last_seal.covers_until),
    },
    versions: { amanah: version, node: process.version, postgresql, temporal },
  };
}

/** Counts pending decisions; they raise no alarm, because they expire. */
async function readPendingDecisions(em: EntityManager): Promise<Backlog> {
  const [row] = await em.execute<{ rows: number; oldest: Date | string | null }[]>(
    "select count(*)::int as rows, min(created_at) as oldest from decisions where status = 'pending'",
  );
  const { rows, oldest } = must(row, 'a count returns a row');
  return { what: 'pending_decisions', rows, oldest: oldest === null ? null : new Date(oldest) };
}

/** The row that the query of `readFacts` returns; its times are JSON strings. */
interface Facts {
  at: string;
  books: Money;
  postgresql: string;
  reconciliation: { day: string; finished_at: string } | null;
  last_comparison: { day: string; measured_at: string; difference: Money; agreed: boolean } | null;
  last_seal: { number: string; sealed_at: string; covers_until: string | null } | null;
}

async function readFacts(em: EntityManager): Promise<Facts> {
  const [row] = await em.execute<Facts[]>(
    `select clock_timestamp() as at, (-account_balance(?))::numeric(20, 4)::text as books,
       current_setting('server_version') as postgresql,
       (select jsonb_build_object('day', day, 'finished_at', max(finished_at)) from reconciled_days
        group by day having bool_and(finished_at is not null) order by day desc limit 1) as reconciliation,
       (select jsonb_build_object('day', day, 'measured_at', measured_at, 'difference', difference::text, 'agreed', agreed)
        from clearing_comparisons order by day desc limit 1) as last_comparison,
       (select jsonb_build_object('number', number::text, 'sealed_at', sealed_at, 'covers_until', covers_until)
        from seals order by number desc limit 1) as last_seal`,
    [systemAccounts.gatewayClearing],
  );
  return must(row, 'a select without a table has a row');
}
