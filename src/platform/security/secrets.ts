/** Secrets from the operator, or generated and stored next to the data so they survive restarts. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads the secret from this file in the data folder. The first call generates it. */
export function keptSecret(dataFolder: string, name: 'jwt-secret' | 'mailbox-secret'): string {
  const file = join(dataFolder, name);
  if (!existsSync(file)) {
    mkdirSync(dataFolder, { recursive: true });
    writeFileSync(file, randomBytes(48).toString('base64url'), { mode: 0o600, flag: 'wx' });
  }
  return readFileSync(file, 'utf8');
}

/** True if the candidate is the secret. Takes the same time for every candidate, whatever its length. */
export function isSecret(candidate: string | null | undefined, secret: string): boolean {
  return candidate != null && timingSafeEqual(digest(candidate), digest(secret));
}

const digest = (text: string) => createHash('sha256').update(text).digest();
