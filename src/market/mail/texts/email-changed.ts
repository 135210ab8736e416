import { validityOf, type MailText } from '../text.js';

export const EMAIL_CHANGED: MailText = {
  subject: 'Your account’s email address was changed',
  before: [
    'Your account has a new email address. From now on, we’ll send emails about your account to the new address. If ' +
      'you made this change, you don’t have to do anything.',
    'If you didn’t, take your account back. We’ll log out all devices, block the old password, and send you a link ' +
      'to set a new one.',
  ],
  action: 'Take my account back',
  after: [validityOf('email_changed')],
};
