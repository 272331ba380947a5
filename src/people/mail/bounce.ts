import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';

/** There is no such mailbox or domain, or it is closed (RFC 3463, RFC 7505). */
const ofTheAddress = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1', '5.4.4']);

/**
 * Whether a mail server's status says that nobody gets mail at this address. Any other refusal may be about the sender, our
 * server, the text or a full mailbox: whoever stopped mail for those would stop it for everybody one day.
 */
export const isOfTheAddress = (status: string): boolean => ofTheAddress.has(status);

/** A mail of ours that came back for good. */
export interface Bounce {
  /** What may be the ids of the mail: what comes back has other ids, too. */
  mailIds: string[];
  status: string;
}

/** Beyond this only the mail that came back follows. */
const readBytes = 64 * 1024;
const mostIds = 20;

/**
 * What a report of a mail server (RFC 3464: the mail that comes back to the sender) says; null when it is none, or says
 * that the mail is late, or refuses it for another reason than its address.
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
 * Stops mail to the address of a mail that came back, until its owner confirms it again. Not when they did since that mail was
 * written. Returns whether it did.
 */
export async function recordBounce(
  em: EntityManager,
  mailId: string,
  status: string,
  requestId: string | null = null,
): Promise<boolean> {
  return em.transactional(async (tx) => {
    const stopped = await tx.execute<{ id: string }[]>(
      `update users u set email_bounced_at = clock_timestamp(), email_confirmed_at = null, updated_at = clock_timestamp()
       from mails m where m.id = ? and u.id = m.user_id and u.email_bounced_at is null and u.erased_at is null
         and (u.email_confirmed_at is null or u.email_confirmed_at < m.created_at)
       returning u.id`,
      [mailId],
    );
    for (const { id } of stopped) {
      await recordEvent(tx, {
        event: 'MAIL_BOUNCED',
        resourceType: 'user',
        resourceId: id,
        actorId: null,
        requestId,
        data: { mail_id: mailId, status },
      });
    }
    return stopped.length > 0;
  });
}
