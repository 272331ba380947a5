import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import { forgetLooks } from '../../platform/housekeeping/sweep-rows.ts';
import { errorCodeOf } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { openProfile } from '../members/profile.ts';
import { recordBounce } from './bounce.ts';
import { findMailFacts, type MailSubject, shownAt } from './find-mail-facts.ts';
import {
  type MailFacts,
  type MailFamily,
  MailRefused,
  type MailSender,
  type MailStatus,
  mailFamilies,
  tokenPaths,
} from './mail.ts';
import { mailFactsPlace } from './record-mail.ts';
import { renderMail } from './render-mail.ts';
import { unsubscribeLink } from './unsubscribe.ts';

export interface MailTools {
  sealer: Sealer;
  sender: MailSender;
  publicUrl: string;
}

interface MailRow extends MailSubject {
  id: string;
  facts_sealed: string | null;
  attempts: number;
  created_at: Date | string;
  /** The message is too old to be sent. */
  is_old: boolean;
  /** The message's token has expired or was used. */
  is_over: boolean;
  status: MailStatus;
  /** The user's status; null when the user no longer exists. */
  user_status: 'invited' | 'active' | 'suspended' | null;
  profile_sealed: string | null;
  is_confirmed: boolean;
  /** Whether the user's notices of the previous hour have reached `noticesByOthers`. */
  is_of_many: boolean;
  is_bounced: boolean;
  takes_receipts: boolean;
  takes_reminders: boolean;
}

/** How long a message is retried; the same as for webhooks. */
const triedForHours = 72;
/**
 * Maximum notices per hour that others could trigger in any number: to an unconfirmed address, which may not belong to
 * the person who signed up with it, and reminders, as anybody may add an account to their circles. Messages with a token
 * have their own limit.
 */
const noticesByOthers = 10;

const find = `select m.id, m.user_id, m.kind, m.resource_id, m.turn_number, m.facts_sealed, m.attempts, m.created_at,
    m.status, m.created_at < clock_timestamp() - interval '${triedForHours} hours' as is_old,
    coalesce(m.token_used_at is not null or m.token_expires_at < clock_timestamp(), false) as is_over,
    u.status as user_status, u.profile_sealed, u.email_confirmed_at is not null as is_confirmed,
    m.token_hash is null and (select count(*) from (select from mails e where e.user_id = m.user_id
        and e.token_hash is null and (e.created_at, e.id) < (m.created_at, m.id)
        and e.created_at > m.created_at - interval '1 hour' limit ${noticesByOthers}) earlier) = ${noticesByOthers}
      as is_of_many,
    u.email_bounced_at is not null as is_bounced, u.locale, u.takes_receipts, u.takes_reminders
  from mails m left join users u on u.id = m.user_id where m.id = ?`;

/**
 * Tries once to send a message: renders it in the user's language and passes it to the mail server. Silences it if the
 * user was erased or suspended, the address bounced or is unconfirmed (except security notices up to a limit), there
 * were too many reminders, the token has expired, its facts no longer hold, or the user turned off this kind of mail.
 * Parks it, with an event, if the server refuses it permanently, and after three days. Throws if it must be retried.
 */
export async function deliverMail(em: EntityManager, tools: MailTools, id: string): Promise<MailStatus> {
  const [row] = await em.execute<MailRow[]>(find, [id]);
  if (row === undefined || row.status !== 'pending') return row?.status ?? 'silenced';
  const family: MailFamily = mailFamilies[row.kind];
  if (row.is_over || !isToBeTold(row, family)) return end(em, row, 'silenced');
  const facts = await findMailFacts(em, row);
  if (facts === null) return end(em, row, 'silenced');
  if (row.is_old) return end(em, row, 'parked', row.attempts === 0 ? 'it could not be written' : undefined);
  const { email, name } = await openProfile(tools.sealer, { id: row.user_id, profile_sealed: row.profile_sealed });
  const unsubscribe = family === 'security' ? null : await unsubscribeLink(tools, row.user_id, family);
  const { token, ...told }: MailFacts = row.facts_sealed
    ? JSON.parse(await tools.sealer.open(mailFactsPlace(id), row.facts_sealed))
    : {};
  const mail = renderMail({
    kind: row.kind,
    locale: row.locale,
    facts: {
      at: shownAt(new Date(row.created_at), row.locale),
      ...facts,
      ...told,
      // A person who signed up with somebody else's address also chose the name, which could contain anything, even a
      // link.
      ...(row.is_confirmed && { name }),
      ...(token !== undefined && { link: linkOf(tools.publicUrl, row, token) }),
      ...(unsubscribe && { unsubscribe }),
    },
  });
  const headers = {
    'Auto-Submitted': 'auto-generated',
    ...(unsubscribe && {
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }),
  };
  await failpoint('deliver-mail.before');
  try {
    await tools.sender.send({ ...mail, headers, to: email, messageId: id });
  } catch (error) {
    const why = error instanceof MailRefused ? error.message : String(errorCodeOf(error) ?? 'no answer');
    if (error instanceof MailRefused) {
      if (error.isBounce) await recordBounce(em, id, why);
      return end(em, row, 'parked', why);
    }
    await em.execute("update mails set attempts = attempts + 1, last_error = ? where id = ? and status = 'pending'", [
      why,
      id,
    ]);
    throw error;
  }
  await failpoint('deliver-mail.sent');
  return end(em, row, 'sent');
}

function isToBeTold(row: MailRow, family: MailFamily): boolean {
  const { user_status: status, profile_sealed: profile, kind } = row;
  if (status === null || profile === null) return false;
  // A bounced address gets only mail that can confirm it.
  if (row.is_bounced && !(kind in tokenPaths)) return false;
  if (kind === 'invitation') return status === 'invited';
  if (status !== 'active') return false;
  if (row.is_of_many && (!row.is_confirmed || family === 'reminders')) return false;
  if (family === 'security') return true;
  return row.is_confirmed && (family === 'receipts' ? row.takes_receipts : row.takes_reminders);
}

function linkOf(publicUrl: string, { kind }: MailRow, token: string): string {
  const path = kind in tokenPaths ? tokenPaths[kind as keyof typeof tokenPaths] : '/';
  return `${new URL(publicUrl).origin}${path}?token=${encodeURIComponent(token)}`;
}

/** Sets a message's final status and deletes its secrets; records an event if it is parked. */
async function end(
  em: EntityManager,
  { id, kind, user_id }: MailRow,
  status: Exclude<MailStatus, 'pending'>,
  error?: string,
): Promise<MailStatus> {
  const tried = status === 'sent' || error !== undefined ? 1 : 0;
  await em.transactional(async (tx) => {
    const ended = await tx.execute<unknown[]>(
      `update mails set status = ?, facts_sealed = null, attempts = attempts + ?, last_error = coalesce(?, last_error),
         ended_at = clock_timestamp() where id = ? and status = 'pending' returning 1`,
      [status, tried, error ?? null, id],
    );
    if (ended.length === 0) return;
    await forgetLooks(tx, 'mail', [id]);
    if (status !== 'parked') return;
    await recordAction(tx, byPlatform, 'MAIL_PARKED', ['mail', id], { kind, user_id, last_error: error ?? null });
  });
  return status;
}
