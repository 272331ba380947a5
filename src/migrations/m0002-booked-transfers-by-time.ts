import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the index with which `check_transfers_booked_once` reads only recent bookings instead of all transfers ever
 * booked.
 */
export class M0002BookedTransfersByTime extends Migration {
  override up(): void {
    // The build waits for running transactions, and blocks nobody while it does.
    this.addSql('set lock_timeout = 0');
    // An interrupted build leaves an invalid index.
    this.addSql('drop index concurrently if exists booked_transfers_by_time');
    this.addSql(
      'create index concurrently booked_transfers_by_time on booked_transfers ' +
        'using brin (booked_at) with (pages_per_range = 16, autosummarize = on)',
    );
  }

  /** A transaction cannot build an index concurrently. */
  override isTransactional(): boolean {
    return false;
  }
}
