/** Secrets that operators set, or that the server makes and keeps beside its data so that they outlive a restart. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The secret in this file of the folder; the first call makes it. */
export function keptSecret(dataFolder: string, name: 'jwt-secret' | 'mailbox-secret'): string {
  const file = join(dataFolder, name);
  if (!existsSync(file)) {
    mkdirSync(dataFolder, { recursive: true });
    writeFileSync(file, randomBytes(48).toString('base64url'), { mode: 0o600, flag: 'wx' });
  }
  return readFileSync(file, 'utf8');
}

/** Takes the same time for every candidate, whatever its length. */
export function isSecret(candidate: string | null | undefined, secret: string): boolean {
  return candidate != null && timingSafeEqual(digest(candidate), digest(secret));
}

const digest = (text: string) => createHash('sha256').update(text).digest();
