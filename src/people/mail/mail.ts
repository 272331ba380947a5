import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** A message is retried for three days, then parked; `silenced` means that its recipient no longer receives it. */
export const mailLaw = statusLaw({
  initial: ['pending'],
  transitions: { pending: ['sent', 'parked', 'silenced'], sent: [], parked: [], silenced: [] },
});
export type MailStatus = StatusOf<typeof mailLaw>;

/**
 * The kinds of mail (docs/contract.md 1). Security notices cannot be turned off; receipts and reminders can, and go to
 * confirmed addresses only.
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

/** Messages with a token, which is valid for this many minutes. */
export const tokenMinutes = { confirm_address: 60, reset_password: 60, invitation: 7 * 24 * 60 } as const;
export type TokenKind = keyof typeof tokenMinutes;

/** The page that the message's link opens; its button uses the token. */
export const tokenPaths: Record<TokenKind, string> = {
  confirm_address: '/confirm-email',
  reset_password: '/reset-password',
  invitation: '/accept-invitation',
};

/** Template values, by name. */
export type MailFacts = Record<string, string>;

/** The text of a kind of mail: Mustache templates. The button opens the message's link. */
export interface MailText {
  subject: string;
  paragraphs: readonly string[];
  button?: string;
}

/** The frame around the text of every message. */
export interface MailFrame {
  greeting: string;
  /** The footer of e-mails that can be turned off; `unsubscribe` is the text of the link that turns them off. */
  chosen: string;
  unsubscribe: string;
  /** The footer of e-mails that cannot be turned off. */
  security: string;
}

export type MailTexts = Record<MailKind, MailText> & { frame: MailFrame };

/** A message ready to be sent. */
export interface Mail {
  /** The same at every attempt, so that mail clients recognize duplicates. */
  messageId: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
}

/** The port to the mail server. */
export interface MailSender {
  /** Sends a message; throws `MailRefused` for a permanent refusal; any other error is retried. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** The mail server permanently refused the message. The error text contains no address. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /** The server reports that the address does not exist. */
  readonly isBounce: boolean;

  constructor(message: string, isBounce: boolean) {
    super(message);
    this.isBounce = isBounce;
  }
}
