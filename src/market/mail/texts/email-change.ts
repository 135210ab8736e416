import { validityOf, type MailText } from '../text.js';

export const EMAIL_CHANGE: MailText = {
  subject: 'Confirm your new email address',
  before: ['Your account is to have this address. It changes when you confirm it.'],
  action: 'Confirm this address',
  after: [
    validityOf('email_change'),
    'If you did not ask for it, somebody typed your address by mistake, and you need do nothing.',
  ],
};
