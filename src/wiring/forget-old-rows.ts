import type { EntityManager } from '@mikro-orm/postgresql';
import { takeBackExpired } from '../people/identity/take-back-invitation.ts';
import { sweepReadEvents } from '../platform/events/list-events.ts';
import { type ForgottenKind, forgetRows } from '../platform/housekeeping/forget-rows.ts';
import { type Forget, inRounds } from '../platform/housekeeping/in-rounds.ts';
import { forgetOldLooks } from '../platform/housekeeping/sweep-rows.ts';

/** How long the outcome and the response of a request are stored. A key stays with the resource it created. */
const requestsKeptDays = 30;
/** No limit looks further back than a day. */
const talliesKept = '2 days';
/** How long the time and kind of a sent message are stored, without its text. */
const mailsKept = '90 days';
/** How long a user stays listed after the invitation expired. */
const expiredInvitationsKeptDays = 30;
/** Few at a time, as every table that may refer to a user is checked, which takes a few milliseconds each. */
const invitationsPerRound = 1000;

/**
 * Deletes rows past their retention time: read events (90 days), outcomes of requests, looks of the sweeps, tallies of
 * payouts, results of bank account checks, refresh tokens, sent messages, used signatures, and people who never
 * accepted their invitation; and the bodies of callbacks and webhooks after `bodiesKeptDays`, if set. Returns how many.
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
