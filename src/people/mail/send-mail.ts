import { createTransport } from 'nodemailer';
import { budgets } from '../../shared/budgets.ts';
import { createSemaphore } from '../../shared/concurrency.ts';
import { isOfTheAddress } from './bounce.ts';
import { MailRefused, type MailSender } from './mail.ts';

/** Maximum concurrent connections to the mail server. */
const places = 10;
/** Errors about a message or its recipient, rather than about us or the connection. */
const ofTheMail = new Set(['EENVELOPE', 'EMESSAGE']);

/** Sends messages through one SMTP server, each on its own connection, encrypted unless the server is on this machine. */
export function createMailSender({ url, from }: { url: string; from: string }): MailSender {
  const { hostname } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  const transport = createTransport({
    url,
    requireTLS: !isLocal,
    ignoreTLS: isLocal,
    dnsTimeout: budgets.mail.connecting,
    connectionTimeout: budgets.mail.connecting,
    greetingTimeout: budgets.mail.connecting,
    socketTimeout: budgets.mail.silence,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const semaphore = createSemaphore(places);
  const domain = from.replace(/^.*@|>$/g, '');
  return {
    async send({ messageId, ...mail }) {
      const leave = await semaphore.enter({ waitMs: budgets.mail.place });
      try {
        await transport.sendMail({ ...mail, from, messageId: `<${messageId}@${domain}>` });
      } catch (error) {
        throw asRefusal(error);
      } finally {
        leave();
      }
    },
    close: () => transport.close(),
  };
}

/** Server replies quote addresses, so only their codes are passed on. */
function asRefusal(error: unknown): Error {
  const {
    code,
    responseCode: status,
    response = '',
  } = (error ?? {}) as {
    code?: string;
    responseCode?: number;
    response?: string;
  };
  const what = status === undefined ? (code ?? 'no answer') : `status ${status}`;
  if (status !== undefined && status >= 500 && ofTheMail.has(code ?? '')) {
    const [, enhanced = ''] = /^\d{3}[ -](5(?:\.\d{1,3}){2})\b/.exec(response) ?? [];
    return new MailRefused(what, isOfTheAddress(enhanced));
  }
  return Object.assign(new Error(`the mail server did not accept the message: ${what}`), { code: what });
}
