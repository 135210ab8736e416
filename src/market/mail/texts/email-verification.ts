import { validityOf, type MailText } from '../text.js';

export const EMAIL_VERIFICATION: MailText = {
  subject: 'Confirm your email address',
  before: ['Please confirm that this is the address of your account.'],
  action: 'Confirm this address',
  after: [
    validityOf('email_verification'),
    'If you have no account, somebody typed your address by mistake, and you need do nothing.',
  ],
};
