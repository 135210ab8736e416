import type { MailText } from '../text.js';

/** Replaces the confirmation email if the address already belongs to another account. */
export const EMAIL_TAKEN: MailText = {
  subject: 'Your email address already has an account',
  before: [
    'Someone tried to use this address for another account. It still belongs to your account.',
    'If it was you, log in with this address, or reset your password. If it wasn’t you, ignore this email.',
  ],
  after: [],
};
