import type { CaughtMail } from '../../dev/sandbox/mail-server.ts';
import { mailFactsPlace } from '../../src/people/mail/record-mail.ts';
import { must } from '../../src/shared/assert.ts';
import { eventually } from './eventually.ts';
import type { Stack } from './stack.ts';

type AtSandbox = Pick<Stack, 'sandbox'>;

/** The token of an invitation whose mail no worker has sent yet. */
export async function invitationToken({ deps, em }: Pick<Stack, 'deps' | 'em'>, userId: string): Promise<string> {
  const [mail] = await em().execute<{ id: string; facts_sealed: string }[]>(
    "select id, facts_sealed from mails where user_id = ? and kind = 'invitation' and status = 'pending'",
    [userId],
  );
  const { id, facts_sealed } = must(mail, 'the e-mail is pending');
  return JSON.parse(await deps.sealer.open(mailFactsPlace(id), facts_sealed)).token;
}

/** The messages caught for an address, newest first. */
export const mailsTo = async ({ sandbox }: AtSandbox, address: string): Promise<CaughtMail[]> =>
  (await sandbox.get(`/sandbox/mail?to=${encodeURIComponent(address)}`)).body.mail;

/** Waits for a message to an address whose subject matches. */
export async function awaitMail(stack: AtSandbox, address: string, subject: RegExp): Promise<CaughtMail> {
  const find = async () => (await mailsTo(stack, address)).find((mail) => subject.test(mail.subject));
  return must(await eventually(find, (mail) => mail !== undefined), 'it was awaited');
}

/** The token in the link of a message. */
export function tokenIn({ text }: CaughtMail): string {
  const [, token] = /[?&]token=([\w%-]+)/.exec(text) ?? [];
  if (token === undefined) throw new Error('the message has no token');
  return decodeURIComponent(token);
}
