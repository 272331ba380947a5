import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { openAccount } from '../../src/ledger/accounts/open-account.ts';
import { runCheck, runChecks } from '../../src/ledger/run-checks.ts';
import { plantJournal } from '../support/plant-journal.ts';
import { corruptions } from '../support/planted-corruptions.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
/** Sums over all history, checked only at night. */
const provedAtNight = ['check_closings_match_postings', 'check_journals_are_sealed', 'check_transaction_counts'];
/** Views that read the current state, wholly or partly, whatever range is requested. */
const holdsNow = [
  'check_balances_match_postings',
  'check_circle_covers',
  'check_circle_holdings',
  'check_circle_pots_paid_once',
  'check_circle_settlements',
  'check_decisions_were_carried_out',
  'check_disbursements_wait_for_their_decision',
  'check_months_are_made',
  'check_no_forbidden_negative',
  'check_open_pool_matches_donations',
  'check_partner_accounts_are_theirs',
  'check_partner_pending_matches_payments',
  'check_payout_tallies_match_payouts',
  'check_receipts_posted_once',
  'check_receipts_reach_their_owners',
  'check_reserved_matches_payouts',
  'check_roles_know_their_permissions',
  'check_suspense_matches_receipts',
  'check_uploads_end',
  'check_users_hold_live_roles',
  'check_users_hold_roles_of_their_organization',
];
/** The views that found a corruption older than the requested range. */
const sawWhatWasOver = new Set<string>();

/** Returns an id created this long ago; a negative interval is in the future. */
async function idOf(ago: string): Promise<string> {
  const [{ id }] = await stack.em().execute<[{ id: string }]>('select uuidv7(-?::interval) as id', [ago]);
  return id;
}

beforeAll(async () => {
  stack = await startStack({ own: true });
});
afterAll(() => stack.stop());

describe('The checks', () => {
  beforeAll(async () => {
    await stack.owner().transactional(async (tx) => {
      const to = await openAccount(tx, { kind: 'user', name: 'Pocket' });
      await plantJournal(tx, {
        kind: 'test',
        businessKey: 'test/checks',
        postings: [
          { accountId: systemAccounts.gatewayClearing, amount: '-1' },
          { accountId: to, amount: '1' },
        ],
      });
    });
  });

  it('All checks are empty on a healthy database', () => expectChecksEmpty(stack));

  it('Every check has a planted corruption', async () => {
    const checks = await runChecks(stack.em());
    expect(checks.map(({ check }) => check).filter((check) => !corruptions.some(([view]) => view === check))).toEqual(
      [],
    );
  });

  it.each(corruptions)('%s catches a planted corruption', async (view, sql) => {
    const em = stack.owner();
    await em.begin();
    try {
      await em.execute("set local session_replication_role = 'replica'");
      await em.execute(sql);
      const whole = await runCheck(em, view);
      expect([view, whole.violations > 0]).toEqual([view, true]);
      // New rows are also visible to a read of everything since yesterday.
      const { violations } = await runCheck(em, view, await idOf('26 hours'));
      expect([view, violations > 0]).toEqual([view, !provedAtNight.includes(view)]);
      const later = await runCheck(em, view, await idOf('-1 hour'));
      if (later.violations > 0) sawWhatWasOver.add(view);
    } finally {
      await em.rollback();
    }
  });

  it('All checks are empty again when the corruptions are removed', () => expectChecksEmpty(stack));

  it('Checks of a recent range skip older rows, except those about the current state', () => {
    expect([...sawWhatWasOver].toSorted()).toEqual(holdsNow);
  });
});
