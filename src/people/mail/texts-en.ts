import type { MailTexts } from './mail.ts';

export const english: MailTexts = {
  frame: {
    greeting: 'Hello{{#name}} {{name}}{{/name}},',
    chosen: 'You receive this e-mail because your settings allow it.',
    unsubscribe: 'Stop e-mails of this kind',
    security: 'This e-mail is about the security of your account and cannot be turned off.',
  },
  confirm_address: {
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'Please confirm that this is your address. Until then we send you no receipts or reminders.',
      'The link works once, for 60 minutes. If you did not sign up with Amanah, ignore this e-mail.',
    ],
    button: 'Confirm my address',
  },
  reset_password: {
    subject: 'Set a new password',
    paragraphs: [
      'Someone, probably you, asked to reset the password of this account.',
      'The link works once, for 60 minutes. If it was not you, ignore this e-mail: your password does not change.',
    ],
    button: 'Set a new password',
  },
  invitation: {
    subject: 'You are invited to Amanah',
    paragraphs: [
      'You are invited{{#organization}} to {{organization}}{{/organization}}. Choose a password to accept.',
      'The link works once, for 7 days. If you did not expect this, ignore this e-mail.',
    ],
    button: 'Accept the invitation',
  },
  new_login: {
    subject: 'New login to your account',
    paragraphs: [
      'Someone logged in to your account on {{at}} from an address that you have not used before: {{from}}.',
      'If it was not you, change your password now. This ends all other sessions.',
    ],
  },
  password_changed: {
    subject: 'Your password was changed',
    paragraphs: [
      'The password of your account was changed on {{at}}. All other sessions have ended.',
      'If it was not you, use "Forgot password" to set a new one now, and contact us.',
    ],
  },
  second_factor_on: {
    subject: 'Your second factor is on',
    paragraphs: [
      'Since {{at}}, logging in requires a code from your authenticator app.',
      'If it was not you, contact us now.',
    ],
  },
  second_factor_off: {
    subject: 'Your second factor is off',
    paragraphs: [
      'Since {{at}}, logging in no longer requires a code from an authenticator app.',
      'If it was not you, change your password now, and contact us.',
    ],
  },
  sessions_ended: {
    subject: 'A session was ended',
    paragraphs: [
      'On {{at}}, one of your sessions was renewed twice with the same token. It may have been copied, so we ended that session; log in again.',
      'If this happens again, change your password.',
    ],
  },
  bank_account_added: {
    subject: 'A bank account was added',
    paragraphs: [
      'A bank account at {{bank}}, number ending in {{ending}}, was added for withdrawals on {{at}}.',
      'If it was not you, change your password now, and contact us.',
    ],
  },
  donation: {
    subject: 'Receipt for your donation of {{amount}}',
    paragraphs: [
      'Thank you for your donation of {{amount}}{{#cause}} to {{cause}}{{/cause}}{{^cause}} to the pool of open donations{{/cause}} on {{at}}.',
      'Reference: {{reference}}',
    ],
  },
  subscription_period: {
    subject: 'Receipt for your regular donation of {{amount}}',
    paragraphs: [
      'Your regular donation of {{amount}} to {{cause}} was paid on {{at}}. Thank you.',
      'Reference: {{reference}}',
    ],
  },
  allocation: {
    subject: 'Your donation of {{amount}} goes to {{cause}}',
    paragraphs: [
      'We allocated your open donation of {{amount}} to {{cause}} on {{at}}. Thank you.',
      'Reference: {{reference}}',
    ],
  },
  contribution: {
    subject: 'Receipt for your contribution to {{circle}}',
    paragraphs: [
      'We received your contribution of {{amount}}{{#guarantee}} and a guarantee of {{guarantee}}{{/guarantee}} to {{circle}} for turn {{turn}} on {{at}}.',
      'Reference: {{reference}}',
    ],
  },
  top_up: {
    subject: 'Receipt for your top-up of {{amount}}',
    paragraphs: [
      '{{amount}} was added to your account by {{channel}} on {{at}}.{{#fee}} The fee was {{fee}}.{{/fee}}',
      'Reference: {{reference}}',
    ],
  },
  withdrawal: {
    subject: 'Your withdrawal of {{amount}} was paid',
    paragraphs: [
      '{{amount}} was sent to your bank account at {{bank}} on {{at}}.{{#fee}} The fee was {{fee}}.{{/fee}}',
      'Reference: {{reference}}',
    ],
  },
  disbursement: {
    subject: '{{cause}} has paid out {{amount}}',
    paragraphs: [
      'The cause {{cause}}, to which you donated, paid out {{amount}} on {{at}}.',
      'Purpose, in the words of its organizers: {{purpose}}',
    ],
  },
  year_statement: {
    subject: 'Your donations in {{year}}: {{amount}}',
    paragraphs: [
      'Thank you. In {{year}} you donated {{amount}}.{{#refunded}} Another {{refunded}} was refunded to ' +
        'you.{{/refunded}}',
      'Donations: {{count}}. The full statement is in the app.',
    ],
  },
  cause_approved: {
    subject: 'Your cause {{cause}} is approved',
    paragraphs: ['The cause {{cause}} was approved on {{at}}. It can receive donations now.'],
  },
  cause_stopped: {
    subject: 'Your cause {{cause}} was stopped',
    paragraphs: [
      'We stopped the cause {{cause}} on {{at}}. It accepts no donations and makes no payouts. Its money stays in ' +
        'the account.',
      'Contact us to learn why.',
    ],
  },
  circle_invitation: {
    subject: 'You are invited to join {{circle}}',
    paragraphs: [
      'You are invited to join the saving circle {{circle}}: {{amount}} each round, starting on {{at}}.',
      'To join, read and accept its terms in the app. If you do nothing, you do not become a member.',
    ],
  },
  circle_due: {
    subject: 'Your contribution to {{circle}} is due soon',
    paragraphs: ['Your contribution of {{amount}} to {{circle}} for turn {{turn}} is due by {{due_at}}.'],
  },
  circle_overdue: {
    subject: 'Your contribution to {{circle}} is overdue',
    paragraphs: [
      'Your contribution of {{amount}} to {{circle}} for turn {{turn}} was due by {{due_at}} and has not arrived.',
      'The other members are waiting for it. Please pay it now.',
    ],
  },
  circle_default: {
    subject: 'You are in default in {{circle}}',
    paragraphs: [
      'Your contribution of {{amount}} to {{circle}} for turn {{turn}} did not arrive within the grace period.',
      'What happens now is in the terms that you accepted when you joined.',
    ],
  },
  circle_pot: {
    subject: 'You have received the pot of {{circle}}',
    paragraphs: ['{{pot}}, the pot of turn {{turn}} of {{circle}}, was credited to your account on {{at}}.'],
  },
};
