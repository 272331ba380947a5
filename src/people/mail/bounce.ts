import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';

/** The mailbox or domain does not exist or is closed (RFC 3463, RFC 7505). */
const ofTheAddress = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1', '5.4.4']);

/**
 * Returns whether a mail server's status means that the address does not exist. Other refusals may concern the sender,
 * our server, the text or a full mailbox; if they counted, one misconfiguration would stop all mail.
 */
export const isOfTheAddress = (status: string): boolean => ofTheAddress.has(status);

/** A message that could not be delivered because its address does not exist. */
export interface Bounce {
  /** Candidates for the message's id: a report contains other ids, too. */
  mailIds: string[];
  status: string;
}

/** Bytes read from a report; only the returned message follows. */
const readBytes = 64 * 1024;
const mostIds = 20;

/**
 * Parses a delivery report (RFC 3464), which mail servers send to the sender. Returns null for any other message, for a
 * delay, and for refusals that do not concern the address.
 */
export function readBounce(report: Buffer): Bounce | null {
  const text = report.subarray(0, readBytes).toString('latin1');
  if (!/^Action:\s*failed\s*$/im.test(text)) return null;
  const [, status = ''] = /^Status:\s*(5(?:\.\d{1,3}){2})\b/im.exec(text) ?? [];
  if (!isOfTheAddress(status)) return null;
  const ids = text.matchAll(/<([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/g);
  return { mailIds: [...new Set([...ids].map(([, id = '']) => id))].slice(0, mostIds), status };
}

/**
 * Stops mail to the address of a bounced message until the user confirms it again. Does nothing if the user has
 * confirmed it since that message was recorded. Returns whether mail was stopped.
 */
export async function recordBounce(
  em: EntityManager,
  mailId: string,
  status: string,
  requestId: string | null = null,
): Promise<boolean> {
  return em.transactional(async (tx) => {
    const [stopped] = await tx.execute<{ id: string }[]>(
      `update users u set email_bounced_at = clock_timestamp(), email_confirmed_at = null, updated_at = clock_timestamp()
       from mails m where m.id = ? and u.id = m.user_id and u.email_bounced_at is null and u.erased_at is null
         and (u.email_confirmed_at is null or u.email_confirmed_at < m.created_at)
       returning u.id`,
      [mailId],
    );
    if (stopped === undefined) return false;
    await recordAction(tx, { actorId: null, requestId }, 'MAIL_BOUNCED', ['user', stopped.id], {
      mail_id: mailId,
      status,
    });
    return true;
  });
}
