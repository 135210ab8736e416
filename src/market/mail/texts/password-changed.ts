import type { MailText } from '../text.js';

export const PASSWORD_CHANGED: MailText = {
  subject: 'Your password was changed',
  before: [
    'Someone set a new password for your account. All other devices were logged out, and all API keys were revoked.',
    'If this wasn’t you, request a password reset link right away. If you can’t get it, someone else may be reading ' +
      'your email. First, change the password of your email account.',
  ],
  after: [],
};
