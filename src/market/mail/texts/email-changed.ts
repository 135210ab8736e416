import { validityOf, type MailText } from '../text.js';

export const EMAIL_CHANGED: MailText = {
  subject: 'The email address of your account was changed',
  before: [
    'Your account has another address now, and mails for it go there. If you changed it, you need do nothing.',
    'If it was not you, take the account back. Every device is logged out then, the password works no more, and you ' +
      'get a mail to set a new one.',
  ],
  action: 'Take my account back',
  after: [validityOf('email_changed')],
};
