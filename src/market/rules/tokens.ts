/**
 * Prepaid tokens: how they are credited, spent, and staked, and between which accounts they move. Granted tokens are
 * spent before bought ones: `market/store/ledger/ledger.ts`.
 */

export const SIGNUP_BONUS = { homeowner: 10, contractor: 25 } as const;
export const REFERRAL_BONUS = 10;
export const GUARANTEED_VIEW_STAKE = 5;
export const HOLD_STATES = ['active', 'released'] as const;

/** The service's own two accounts. Tokens come from `issuance`, and spent tokens go to `fees`. */
export const SYSTEM_ACCOUNTS = ['issuance', 'fees'] as const;
export type SystemAccount = (typeof SYSTEM_ACCOUNTS)[number];

/** Each reason determines the system account on the other side of the transfer. */
export const TRANSFER_REASONS = {
  signup_bonus: { systemAccount: 'issuance', description: 'The bonus for signing up' },
  referral_bonus: { systemAccount: 'issuance', description: 'The bonus that both users get for a referral' },
  publish: { systemAccount: 'fees', description: 'The cost of publishing a job' },
  urgency_raise: { systemAccount: 'fees', description: 'The extra cost of raising a job’s urgency' },
  publish_refund: {
    systemAccount: 'fees',
    description: 'A refund of the publishing cost, for a cancelled job that never had a bid',
  },
  adjustment: { systemAccount: 'issuance', description: 'A correction by an admin' },
  purchase: { systemAccount: 'issuance', description: 'Tokens that the user bought' },
  purchase_refund: { systemAccount: 'issuance', description: 'Bought tokens taken back for a refund' },
  purchase_refund_undone: {
    systemAccount: 'issuance',
    description: 'Bought tokens returned because the payment provider refused the refund',
  },
  chargeback: { systemAccount: 'issuance', description: 'Tokens taken back after a lost chargeback' },
  debt_payment: { systemAccount: 'issuance', description: 'Tokens that pay the debt from a lost chargeback' },
} as const satisfies Record<string, { systemAccount: SystemAccount; description: string }>;

export type TransferReason = keyof typeof TRANSFER_REASONS;
export const TRANSFER_REASON_KEYS = Object.keys(TRANSFER_REASONS) as [TransferReason, ...TransferReason[]];

/** Characters that look alike (0 O, 1 I L) are left out. */
export const REFERRAL_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
export const REFERRAL_LENGTH = 8;
