/** Who is asking. A viewer is made by the session check alone; the doors never build one. */
import type { ContractorId, HomeownerId, SessionId, UserId } from './ids.js';

export const ROLES = ['homeowner', 'contractor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

interface SignedIn {
  readonly userId: UserId;
  readonly sessionId: SessionId;
}

export type Viewer =
  | (SignedIn & { readonly role: 'homeowner'; readonly homeownerId: HomeownerId; readonly contractorId: null })
  | (SignedIn & { readonly role: 'contractor'; readonly homeownerId: null; readonly contractorId: ContractorId })
  | (SignedIn & { readonly role: 'admin'; readonly homeownerId: null; readonly contractorId: null });
