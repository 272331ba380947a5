import type { EntityManager } from '@mikro-orm/postgresql';
import { takeBackExpired } from '../people/identity/take-back-invitation.ts';
import { sweepReadEvents } from '../platform/events/list-events.ts';
import { type ForgottenKind, forgetRows } from '../platform/housekeeping/forget-rows.ts';
import { type Forget, inRounds } from '../platform/housekeeping/in-rounds.ts';
import { forgetOldLooks } from '../platform/housekeeping/sweep-rows.ts';

/** How long the outcome and the answer of a request are stored. A key stays with the resource it created. */
const requestsKeptDays = 30;
/** No limit looks further back than a day. */
const talliesKept = '2 days';
/** When which mail was sent, without its text. */
const mailsKept = '90 days';
/** How long after an invitation expires the user who never accepted stays listed. */
const expiredInvitationsKeptDays = 30;
/** Every table that may name a user is asked about each of them, which takes a few milliseconds. */
const invitationsPerRound = 1000;

/**
 * Deletes rows that are kept for a limited time: read events (90 days), what became of requests, looks of the sweeps,
 * tallies of payouts, results of checks of bank accounts, mails that were sent, signatures that were used, and people who
 * were invited and never came; the bodies of callbacks and webhooks after `bodiesKeptDays`, forever without it. Returns how
 * many.
 */
export async function forgetOldRows(
  em: EntityManager,
  { bodiesKeptDays }: { bodiesKeptDays?: number | undefined } = {},
): Promise<number> {
  const kept =
    (kind: ForgottenKind, age: string): Forget =>
    (tx, limit) =>
      forgetRows(tx, kind, age, limit);
  const bodies = `${bodiesKeptDays} days`;
  return inRounds(em, {
    ...(bodiesKeptDays !== undefined && {
      callback_bodies: kept('callback_bodies', bodies),
      webhook_bodies: kept('webhook_bodies', bodies),
    }),
    requests: kept('requests', `${requestsKeptDays} days`),
    read_events: sweepReadEvents,
    sweep_looks: forgetOldLooks,
    payout_tallies: kept('payout_tallies', talliesKept),
    bank_account_checks: kept('bank_account_checks', '1 day'),
    refresh_tokens: kept('refresh_tokens', '1 day'),
    mails: kept('mails', mailsKept),
    used_signatures: kept('used_signatures', '1 day'),
    expired_invitations: {
      forget: (tx, limit) => takeBackExpired(tx, expiredInvitationsKeptDays, limit),
      roundLimit: invitationsPerRound,
    },
  });
}
