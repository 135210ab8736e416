import type { MailText } from '../text.js';

/** Sent instead of the confirmation if the address already belongs to another account. */
export const EMAIL_TAKEN: MailText = {
  subject: 'Your email address has an account already',
  before: [
    'Somebody wants to use this address for another account. It is the address of your account, and stays so.',
    'If it was you: log in with this address, or ask for a new password there. If not, you need do nothing.',
  ],
  after: [],
};
