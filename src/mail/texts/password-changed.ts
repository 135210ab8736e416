import type { MailText } from '../text.js';

export const PASSWORD_CHANGED: MailText = {
  subject: 'Your password was changed',
  before: [
    'A new password was set for your account. Every device was logged out, and all API keys have ended.',
    'If it was not you, somebody else can read your mail: change the password of your mailbox, and then ask for a ' +
      'new password for your account.',
  ],
  after: [],
};
