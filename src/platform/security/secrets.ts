/** Secrets that operators set, or that the server generates and stores next to its data so they survive restarts. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads the secret from the file with this name in the data folder. The first call generates the secret. */
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
