import { validityOf, type MailText } from '../text.js';

export const EMAIL_CHANGE: MailText = {
  subject: 'Confirm your new email address',
  before: ['You asked to use this address for your account. Confirm it to finish the change.'],
  action: 'Confirm this address',
  after: [
    validityOf('email_change'),
    'If you didn’t ask for this, ignore this email. Someone may have typed your address by mistake.',
  ],
};
