/**
 * Authentication: a JWT with a key created once, and a session check on each request, with the product's own statement.
 */
import { createSecretKey } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import { environment } from './environment.js';
import { sql } from './postgres.js';
import { VIEWER_STATEMENT } from './statements.js';

const key = createSecretKey(Buffer.from(environment('JWT_SECRET')));
const expected = { algorithms: ['HS256' as const], issuer: 'job-marketplace', audience: 'job-marketplace' };

export interface Claims {
  userId: string;
  sessionId: string;
}

export function claimsOf(authorization: string | undefined): Claims | undefined {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  try {
    const { sub, sid } = jwt.verify(authorization.slice(7), key, expected) as { sub?: string; sid?: string };
    return sub && sid ? { userId: sub, sessionId: sid } : undefined;
  } catch {
    return undefined;
  }
}

export function signToken(userId: string, sessionId: string, role: string): string {
  return jwt.sign({ sid: sessionId, role }, key, {
    algorithm: 'HS256',
    subject: userId,
    issuer: expected.issuer,
    audience: expected.audience,
    expiresIn: 900,
  });
}

export async function findViewer(authorization: string | undefined): Promise<Viewer | undefined> {
  const claims = claimsOf(authorization);
  if (!claims) return undefined;
  const [viewer] = await sql.unsafe<Viewer[]>(VIEWER_STATEMENT, [claims.sessionId, claims.userId], { prepare: true });
  return viewer;
}
