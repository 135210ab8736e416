/**
 * Encrypts secrets that the server must be able to read again, so a copy of the database doesn't reveal them. Uses
 * AES-256-GCM with a key derived from JWT_SECRET. Secrets encrypted under JWT_PREVIOUS_SECRET can be read too, and are
 * encrypted again while both variables are set.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

export interface Encryptor {
  /** The name of the key that `encrypt` uses. The name reveals nothing about the key itself. */
  readonly keyName: string;
  /** To decrypt the text, pass the same `about`. Text that is copied to another row can't be decrypted there. */
  encrypt(text: string, about: string): string;
  /** Decrypts a string. Returns undefined if neither key decrypts it. */
  open(sealedText: string, about: string): string | undefined;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createEncryptor({
  secret,
  previousSecret,
}: {
  secret: string;
  previousSecret?: string | undefined;
}): Encryptor {
  const current = keyFrom(secret);
  const keys = previousSecret === undefined ? [current] : [current, keyFrom(previousSecret)];
  return {
    keyName: createHash('sha256').update(current).digest('base64url').slice(0, 16),
    encrypt(text, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current, nonce).setAAD(Buffer.from(about));
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      );
    },
    open(sealedText, about) {
      const bytes = Buffer.from(sealedText, 'base64url');
      for (const key of keys) {
        const text = decrypt(key, bytes, about);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

function keyFrom(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'key of the secrets of webhooks', 32));
}

function decrypt(key: Buffer, bytes: Buffer, about: string): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(about))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString();
  } catch {
    // The text was encrypted with another key or was altered. GCM doesn't show which.
    return undefined;
  }
}
