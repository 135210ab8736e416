import { validityOf, type MailText } from '../text.js';

export const PASSWORD_RESET: MailText = {
  subject: 'Set a new password',
  before: ['You, or somebody for you, asked to set a new password for your account.'],
  action: 'Set a new password',
  after: [validityOf('password_reset'), 'If you did not ask for it, nobody gets in without this mail.'],
};
