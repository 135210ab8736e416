import type { MailText } from '../text.js';

export const PASSWORD_CHANGED: MailText = {
  subject: 'Your password was changed',
  before: [
    'Someone set a new password for your account. All other devices were logged out, and all API keys were revoked.',
    'If this wasn’t you, request a password reset link right away. If the link doesn’t arrive, someone else may be ' +
      'reading your email. In that case, change your email account’s password first.',
  ],
  after: [],
};
