import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** A mail is tried for three days, then parked; `silenced` if nobody is to be told any more. */
export const mailLaw = statusLaw({
  initial: ['pending'],
  transitions: { pending: ['sent', 'parked', 'silenced'], sent: [], parked: [], silenced: [] },
});
export type MailStatus = StatusOf<typeof mailLaw>;

/**
 * What people are told (docs/contract.md 1). Whom may turn it off: nobody notices of security, everybody receipts and
 * reminders, which go to confirmed addresses only.
 */
export const mailFamilies = {
  confirm_address: 'security',
  reset_password: 'security',
  invitation: 'security',
  new_login: 'security',
  password_changed: 'security',
  second_factor_on: 'security',
  second_factor_off: 'security',
  sessions_ended: 'security',
  bank_account_added: 'security',
  donation: 'receipts',
  subscription_period: 'receipts',
  allocation: 'receipts',
  contribution: 'receipts',
  top_up: 'receipts',
  withdrawal: 'receipts',
  disbursement: 'receipts',
  year_statement: 'receipts',
  circle_invitation: 'reminders',
  circle_due: 'reminders',
  circle_overdue: 'reminders',
  circle_default: 'reminders',
  circle_pot: 'reminders',
  cause_approved: 'reminders',
  cause_stopped: 'reminders',
} as const;
export type MailKind = keyof typeof mailFamilies;
export type MailFamily = (typeof mailFamilies)[MailKind];

/** Mails with a token. The token lives this many minutes. */
export const tokenMinutes = { confirm_address: 60, reset_password: 60, invitation: 7 * 24 * 60 } as const;
export type TokenKind = keyof typeof tokenMinutes;

/** The page that the link of such a mail opens; its button spends the token. */
export const tokenPaths: Record<TokenKind, string> = {
  confirm_address: '/confirm-email',
  reset_password: '/reset-password',
  invitation: '/accept-invitation',
};

/** What fills the gaps of a template, by name. */
export type MailFacts = Record<string, string>;

/** The text of a kind of mail: Mustache templates. Paragraphs are lines of text; the button leads to the mail's link. */
export interface MailText {
  subject: string;
  paragraphs: readonly string[];
  button?: string;
}

/** What every mail has around its text. */
export interface MailFrame {
  greeting: string;
  /** Under mails that may be turned off, and the text of the link that does it. */
  chosen: string;
  unsubscribe: string;
  /** Under those that may not. */
  security: string;
}

export type MailTexts = Record<MailKind, MailText> & { frame: MailFrame };

/** A mail ready to be sent. */
export interface Mail {
  /** The same at every attempt, so that a receiver can recognize a repetition. */
  messageId: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
}

/** The port to the mail server. */
export interface MailSender {
  /** Hands a mail over; throws `MailRefused` when the server refuses it for good, and anything else to be tried again. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** The mail server refuses this mail for good; its message has no address in it. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /** The server says that there is no such address. */
  readonly isBounce: boolean;

  constructor(message: string, isBounce: boolean) {
    super(message);
    this.isBounce = isBounce;
  }
}
