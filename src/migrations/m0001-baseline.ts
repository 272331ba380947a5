import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';
import { seedPermissions } from './baseline/permissions.ts';

/**
 * The files of `baseline/`, in loading order: first the shared functions of status laws and checks, then one file per
 * module. Each refers only to tables, and its views and triggers only to functions, of earlier files. (PL/pgSQL
 * functions may call later ones.)
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

/** The digest of the baseline's text, stored in each database created from it. */
export function baselineMark(): string {
  const hash = createHash('sha256');
  for (const domain of domains) hash.update(readFileSync(join(import.meta.dirname, 'baseline', `${domain}.sql`)));
  for (const statement of seedPermissions()) hash.update(statement);
  return `baseline ${hash.digest('hex')}`;
}

/** The initial schema of the first release. */
export class M0001Baseline extends Migration {
  override up(): void {
    for (const domain of domains) {
      this.addSql(readFileSync(join(import.meta.dirname, 'baseline', `${domain}.sql`), 'utf8'));
    }
    for (const statement of seedPermissions()) this.addSql(statement);
    this.addSql(`comment on schema public is '${baselineMark()}'`);
  }
}
