import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';
import { seedPermissions } from './baseline/permissions.ts';

/**
 * The files of `baseline/`, one for each domain after what guards statuses and what checks ask in all of them, in the
 * order in which they load: each names only tables, and views and triggers only functions, of those before it. (What a
 * function in PL/pgSQL calls may come later.)
 */
const domains = [
  'status-laws',
  'checks',
  'organizations',
  'access',
  'identity',
  'mails',
  'months',
  'events',
  'ledger',
  'held-balances',
  'transactions',
  'payments',
  'saving-goals',
  'products',
  'causes',
  'donation-subscriptions',
  'donations',
  'circles',
  'partners',
  'collections',
  'receipts',
  'gateway',
  'payouts',
  'payout-batches',
  'bank-accounts',
  'withdrawals',
  'payout-tallies',
  'payment-refunds',
  'callbacks',
  'webhooks',
  'reconciliation',
  'erasures',
  'decisions',
  'transfers',
  'seals',
  'closings',
  'openings',
  'sweeps',
  'addresses',
  'documents',
  'official-documents',
  'instants',
  'proofs',
  'retention',
  'replicas',
  'roles',
];

/** The digest of all that the baseline makes: a database remembers from which text it was made. */
export function baselineMark(): string {
  const hash = createHash('sha256');
  for (const domain of domains) hash.update(readFileSync(join(import.meta.dirname, 'baseline', `${domain}.sql`)));
  for (const statement of seedPermissions()) hash.update(statement);
  return `baseline ${hash.digest('hex')}`;
}

/** The schema that the first release began with, from nothing. */
export class M0001Baseline extends Migration {
  override up(): void {
    for (const domain of domains) {
      this.addSql(readFileSync(join(import.meta.dirname, 'baseline', `${domain}.sql`), 'utf8'));
    }
    for (const statement of seedPermissions()) this.addSql(statement);
    this.addSql(`comment on schema public is '${baselineMark()}'`);
  }
}
