import type { MailText } from '../text.js';

export const PASSWORD_CHANGED: MailText = {
  subject: 'Your password was changed',
  before: [
    'A new password was set for your account. Other devices are logged out, and all API keys have ended.',
    'If it was not you, ask for a link to set a new password at once. If that fails, change the password of your ' +
      'mailbox first: somebody else may read your mail.',
  ],
  after: [],
};
