import { validityOf, type MailText } from '../text.js';

const ACTION = 'Set a new password';

export const PASSWORD_RESET: MailText = {
  subject: ACTION,
  before: ['Someone, probably you, asked for a new password for your account.'],
  action: ACTION,
  after: [validityOf('password_reset'), 'If you didn’t ask for this, ignore this email. Your password stays the same.'],
};

export const PASSWORD_RESET_BY_SUPPORT: MailText = {
  subject: ACTION,
  before: ['Our support team sent you this link to set a new password for your account.'],
  action: ACTION,
  after: [
    validityOf('password_reset_by_support'),
    'If you didn’t contact our support team, ignore this email. Your password stays the same.',
  ],
};

export const PASSWORD_RESET_AFTER_UNDO: MailText = {
  subject: ACTION,
  before: [
    'Your account has this email address again. We logged out all devices, and the old password no longer works.',
  ],
  action: ACTION,
  after: [
    validityOf('password_reset_after_undo'),
    'If the link has expired, request a password reset for this email address.',
  ],
};
