/** The person making a call. Only the session check creates a viewer. */
import { isId, type ContractorId, type HomeownerId, type SessionId, type UserId } from './ids.js';

export const ROLES = ['homeowner', 'contractor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

interface UserSession {
  readonly userId: UserId;
  readonly sessionId: SessionId;
  /** If true, this person can't publish or bid yet. The operator decides whether a confirmed email is required. */
  readonly mustVerifyEmail?: boolean;
  readonly isInDryRun?: boolean;
}

interface ViewerByRole {
  homeowner: UserSession & {
    readonly role: 'homeowner';
    readonly homeownerId: HomeownerId;
    readonly contractorId: null;
  };
  contractor: UserSession & {
    readonly role: 'contractor';
    readonly homeownerId: null;
    readonly contractorId: ContractorId;
  };
  admin: UserSession & { readonly role: 'admin'; readonly homeownerId: null; readonly contractorId: null };
}

export type ViewerWith<R extends Role> = ViewerByRole[R];

export type Viewer = ViewerWith<Role>;

export type Bearer = Pick<Viewer, 'userId' | 'sessionId' | 'role'>;

export function isBearer(claims: Readonly<Record<keyof Bearer, unknown>>): claims is Bearer {
  return isId('user', claims.userId) && isId('session', claims.sessionId) && ROLES.some((role) => role === claims.role);
}
