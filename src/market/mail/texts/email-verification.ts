import { validityOf, type MailText } from '../text.js';

export const EMAIL_VERIFICATION: MailText = {
  subject: 'Confirm your email address',
  before: ['Confirm that this is your email address.'],
  action: 'Confirm this address',
  after: [
    validityOf('email_verification'),
    'If you don’t have an account, ignore this email. Someone may have typed your address by mistake.',
  ],
};
