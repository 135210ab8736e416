/** The emails to both addresses after someone undoes an email change. */
import { validityOf, type MailText } from '../text.js';

const CONTACT = 'If you think this is a mistake, contact our support team.';

export const EMAIL_UNDONE: MailText = {
  subject: 'Your account’s email address was changed back',
  before: [
    'Your account uses its former email address again, because someone with access to that address undid the change ' +
      'to this one. You can no longer log in with this address.',
    CONTACT,
  ],
  after: [],
};

export const EMAIL_UNDO_PENDING: MailText = {
  subject: 'Someone asked to undo your email change',
  before: [
    'The owner of your account’s former email address asked us to undo the change. Because the account was used ' +
      'after the change, our support team will decide who keeps the account.',
    'Until then, you can’t publish or award jobs, bid, buy tokens, or change your email address. To settle this, ' +
      'contact our support team.',
  ],
  after: [],
};

export const EMAIL_UNDO_GRANTED: MailText = {
  subject: 'Your account belongs to this email address',
  before: [
    'Our support team reviewed the request to undo an email change. We decided that the account belongs to this ' +
      'address.',
    'Set a new password now. This ends all sessions and revokes all API keys, so nobody else stays logged in.',
  ],
  action: 'Set a new password',
  after: [validityOf('email_undo_granted')],
};

export const EMAIL_UNDO_DENIED: MailText = {
  subject: 'Our decision about the email change',
  before: [
    'Our support team reviewed the request to undo an email change. We decided that the account belongs to the other ' +
      'address. You can’t log in with this one.',
    CONTACT,
  ],
  after: [],
};
