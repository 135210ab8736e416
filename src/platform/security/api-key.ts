/** Creates API keys and defines their format. Only a key's SHA-256 is stored. */
import { createHash, randomInt } from 'node:crypto';

const PREFIX = 'jmk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 40;
const SECRET = new RegExp(`^${PREFIX}[0-9A-Za-z]{${LENGTH}}$`);

export function newApiKeySecret(): string {
  return PREFIX + Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

export function isApiKeySecret(bearer: string): boolean {
  return SECRET.test(bearer);
}

export function hashOfApiKey(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
