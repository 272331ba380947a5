import { must } from '../../src/shared/assert.ts';
import { eventually } from './eventually.ts';
import type { Stack } from './stack.ts';

/** A mail as the sandbox caught it. */
export interface CaughtMail {
  id: number;
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  received_at: string;
  message_id: string;
}

type AtSandbox = Pick<Stack, 'sandbox'>;

/** The mails that were caught for an address, newest first. */
export const mailsTo = async ({ sandbox }: AtSandbox, address: string): Promise<CaughtMail[]> =>
  (await sandbox.get(`/sandbox/mail?to=${encodeURIComponent(address)}`)).body.mail;

/** Waits for a mail to an address whose subject matches. */
export async function awaitMail(stack: AtSandbox, address: string, subject: RegExp): Promise<CaughtMail> {
  const find = async () => (await mailsTo(stack, address)).find((mail) => subject.test(mail.subject));
  return must(await eventually(find, (mail) => mail !== undefined), 'it was awaited');
}

/** The token in the link of a mail. */
export function tokenIn({ text }: CaughtMail): string {
  const [, token] = /[?&]token=([\w%-]+)/.exec(text) ?? [];
  if (token === undefined) throw new Error('the mail has no token');
  return decodeURIComponent(token);
}
