/** What an undo of an email change tells the two addresses. */
import { validityOf, type MailText } from '../text.js';

const CONTACT = 'If you think this is a mistake, contact our support team.';

export const EMAIL_UNDONE: MailText = {
  subject: 'Your account has its former email address again',
  before: [
    'The change of your account to this email address was undone, with the link that we sent to the former address. ' +
      'You can no longer log in with this address.',
    CONTACT,
  ],
  after: [],
};

export const EMAIL_UNDO_PENDING: MailText = {
  subject: 'Someone asked to undo the change of your email address',
  before: [
    "The owner of your account's former email address asked to undo the change to this one. The account was used " +
      'after the change, so our support team will decide who keeps it.',
    'Until then your account keeps working, but you cannot publish, award, bid, or change your email address. ' +
      'Contact our support team to settle it.',
  ],
  after: [],
};

export const EMAIL_UNDO_GRANTED: MailText = {
  subject: 'Your account belongs to this email address',
  before: [
    'Our support team decided about the request to undo a change of email address: the account belongs to this one.',
    'Set a new password now. That ends all sessions and API keys, so nobody else stays logged in.',
  ],
  action: 'Set a new password',
  after: [validityOf('email_undo_granted')],
};

export const EMAIL_UNDO_DENIED: MailText = {
  subject: 'Your request about an account was decided',
  before: [
    'Our support team decided about the request to undo a change of email address: the account belongs to the other ' +
      'address. You cannot log in with this one.',
    CONTACT,
  ],
  after: [],
};
