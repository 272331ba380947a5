import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import type { Store } from './store.ts';

const largestMail = 1_048_576;
/** Older messages are deleted. */
const mailsKept = 1_000;

/** A captured message. */
export interface CaughtMail {
  /** The Message-ID without brackets; a resent message has the same one. */
  id: string;
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  received_at: string;
}

/** The caught messages, newest first; with `to`, only those to that address. */
export function listMails(
  store: Store,
  { to, limit = mailsKept }: { to?: string | undefined; limit?: number } = {},
): CaughtMail[] {
  const rows =
    to === undefined
      ? store.all('select document from mails order by seq desc limit ?', limit)
      : store.all('select document from mails where receiver = ? order by seq desc limit ?', to.toLowerCase(), limit);
  return rows.map(({ document }) => JSON.parse(String(document)));
}

export const findMail = (store: Store, id: string): CaughtMail | null => {
  const row = store.get('select document from mails where id = ? order by seq desc limit 1', id);
  return row ? JSON.parse(String(row.document)) : null;
};

function keep(store: Store, mail: CaughtMail): void {
  const values = [mail.id, mail.to.toLowerCase(), JSON.stringify(mail)];
  store.run('insert into mails (id, receiver, document) values (?, ?, ?)', ...values);
  store.run('delete from mails where seq <= (select max(seq) from mails) - ?', mailsKept);
}

/**
 * Catches every message instead of delivering it, one row for each recipient. An address whose local part ends in
 * `+refused` is refused permanently, one that ends in `+later` temporarily.
 */
export async function startMailServer(store: Store, { port, host }: { port: number; host: string }) {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    size: largestMail,
    logger: false,
    onRcptTo({ address }, _session, callback) {
      const [local = ''] = address.split('@');
      const status = local.endsWith('+refused') ? 550 : local.endsWith('+later') ? 451 : null;
      if (status === null) return callback();
      const enhanced = status === 550 ? '5.1.1' : '4.2.1';
      callback(
        Object.assign(new Error(`${enhanced} the sandbox refuses this address on request`), { responseCode: status }),
      );
    },
    onData(stream, session, callback) {
      simpleParser(stream).then(
        (mail) => {
          for (const { address } of session.envelope.rcptTo) {
            keep(store, {
              id: mail.messageId?.replace(/^<|>$/g, '') ?? randomUUID(),
              from: mail.from?.text ?? '',
              to: address,
              subject: mail.subject ?? '',
              text: mail.text ?? '',
              html: mail.html || '',
              received_at: new Date().toISOString(),
            });
          }
          callback();
        },
        (error: unknown) => callback(Error.isError(error) ? error : new Error('the message cannot be read')),
      );
    },
  });
  // Ignore senders that disconnect midway.
  server.on('error', () => undefined);
  server.listen(port, host);
  await once(server.server, 'listening');
  return { stop: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}
