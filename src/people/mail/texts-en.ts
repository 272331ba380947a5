import type { MailTexts } from './mail.ts';

export const english: MailTexts = {
  frame: {
    greeting: 'Hello {{name}},',
    unsubscribe: 'You get this mail because your settings allow it. Stop mails of this kind: {{unsubscribe}}',
    security: 'This mail is about the security of your account, and cannot be turned off.',
  },
  confirm_address: {
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'Please confirm that this is your address. Until then we send you no receipts and reminders.',
      'The link works once, for 60 minutes. If you did not sign up at Amanah, ignore this mail.',
    ],
    button: 'Confirm my address',
  },
  reset_password: {
    subject: 'Set a new password',
    paragraphs: [
      'Somebody, probably you, asked for a new password for this account.',
      'The link works once, for 60 minutes. If it was not you, ignore this mail: your password stays as it is.',
    ],
    button: 'Set a new password',
  },
  invitation: {
    subject: 'You are invited to Amanah',
    paragraphs: [
      'You are invited{{#organization}} to {{organization}}{{/organization}}. Choose a password to accept.',
      'The link works once, for 7 days. If you did not expect this, ignore this mail.',
    ],
    button: 'Accept the invitation',
  },
  new_login: {
    subject: 'New login to your account',
    paragraphs: [
      'Your account was logged in to from a place that we did not know: {{from}}, {{at}}.',
      'If it was not you, change your password now, which logs out everybody.',
    ],
  },
  password_changed: {
    subject: 'Your password was changed',
    paragraphs: [
      'The password of your account was changed, {{at}}. All other sessions have ended.',
      'If it was not you, set a new password by "forgot password" now, and tell us.',
    ],
  },
  second_factor_on: {
    subject: 'Your second factor is on',
    paragraphs: [
      'Logging in needs a code of your authenticator app from now on, {{at}}.',
      'If it was not you, tell us now.',
    ],
  },
  second_factor_off: {
    subject: 'Your second factor is off',
    paragraphs: [
      'Logging in needs no code of an authenticator app any more, {{at}}.',
      'If it was not you, change your password now, and tell us.',
    ],
  },
  sessions_ended: {
    subject: 'A session was ended',
    paragraphs: [
      'Somebody used an old key of one of your sessions, {{at}}. We have ended that session; log in again.',
      'If this happens again, change your password.',
    ],
  },
  bank_account_added: {
    subject: 'A bank account was added',
    paragraphs: [
      'A bank account at {{bank}}, number ending in {{ending}}, was added for withdrawals, {{at}}.',
      'If it was not you, change your password now, and tell us.',
    ],
  },
  donation: {
    subject: 'Receipt for your donation of {{amount}}',
    paragraphs: [
      'Thank you for your donation of {{amount}}{{#cause}} to {{cause}}{{/cause}}{{^cause}} to the pool of open donations{{/cause}}, {{at}}.',
      'Reference: {{reference}}',
    ],
  },
  subscription_period: {
    subject: 'Receipt for your regular donation of {{amount}}',
    paragraphs: [
      'Your regular donation of {{amount}} to {{cause}} was paid, {{at}}. Thank you.',
      'Reference: {{reference}}',
    ],
  },
  allocation: {
    subject: 'Your donation of {{amount}} goes to {{cause}}',
    paragraphs: [
      'We have passed your open donation of {{amount}} on to {{cause}}, {{at}}. Thank you.',
      'Reference: {{reference}}',
    ],
  },
  contribution: {
    subject: 'Receipt for your contribution to {{circle}}',
    paragraphs: [
      'Your contribution of {{amount}}{{#guarantee}}, and a guarantee of {{guarantee}},{{/guarantee}} to {{circle}} for turn {{turn}} has arrived, {{at}}.',
      'Reference: {{reference}}',
    ],
  },
  top_up: {
    subject: 'Receipt for your top-up of {{amount}}',
    paragraphs: [
      '{{amount}} has been added to your account by {{channel}}, {{at}}.{{#fee}} The fee was {{fee}}.{{/fee}}',
      'Reference: {{reference}}',
    ],
  },
  withdrawal: {
    subject: 'Your withdrawal of {{amount}} was paid',
    paragraphs: [
      '{{amount}} was sent to your bank account at {{bank}}, {{at}}.{{#fee}} The fee was {{fee}}.{{/fee}}',
      'Reference: {{reference}}',
    ],
  },
  disbursement: {
    subject: '{{cause}} has paid out {{amount}}',
    paragraphs: [
      'The cause {{cause}}, to which you gave, paid out {{amount}}, {{at}}.',
      'Its organizers say what it is for: {{purpose}}',
    ],
  },
  year_statement: {
    subject: 'Your donations in {{year}}: {{amount}}',
    paragraphs: [
      'Thank you. In {{year}} you gave {{amount}}.{{#refunded}} Another {{refunded}} was given back to you.{{/refunded}}',
      'Donations: {{count}}. The full statement is in the app.',
    ],
  },
  cause_approved: {
    subject: 'Your cause {{cause}} is approved',
    paragraphs: ['The cause {{cause}} was approved, {{at}}. It can receive donations now.'],
  },
  cause_stopped: {
    subject: 'Your cause {{cause}} was stopped',
    paragraphs: [
      'We stopped the cause {{cause}}, {{at}}. It receives no donations, and nothing is paid out of it. The money stays where it is.',
      'Please contact us about the reason.',
    ],
  },
  circle_invitation: {
    subject: 'You are asked to join {{circle}}',
    paragraphs: [
      'You are asked to join the saving circle {{circle}}: {{amount}} each round, from {{at}}.',
      'You join in the app, once you have read its terms. If you do nothing, you are no member.',
    ],
  },
  circle_due: {
    subject: 'Your contribution to {{circle}} is due soon',
    paragraphs: ['Your contribution of {{amount}} to {{circle}} for turn {{turn}} is due by {{due_at}}.'],
  },
  circle_overdue: {
    subject: 'Your contribution to {{circle}} is overdue',
    paragraphs: [
      'Your contribution of {{amount}} to {{circle}} for turn {{turn}} was due by {{due_at}}, and has not arrived.',
      'The others wait for it. Please pay it now.',
    ],
  },
  circle_default: {
    subject: 'You are in default in {{circle}}',
    paragraphs: [
      'Your contribution of {{amount}} to {{circle}} for turn {{turn}} has not arrived within the days of grace.',
      'What follows is in the terms of the circle that you accepted when you joined.',
    ],
  },
  circle_pot: {
    subject: 'You have received the pot of {{circle}}',
    paragraphs: ['{{pot}} of {{circle}}, the pot of turn {{turn}}, has been on your account since {{at}}.'],
  },
};
