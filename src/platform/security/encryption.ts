/**
 * Encrypts secrets that the server must read again, so a copied database doesn't reveal them. Uses AES-256-GCM with a
 * key derived from JWT_SECRET. While JWT_PREVIOUS_SECRET is set, the server can also read secrets encrypted under it,
 * and encrypts them again with the new key.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

export interface Encryptor {
  /** The name of the current key. It reveals nothing about the key. */
  readonly keyName: string;
  /** Decryption needs the same `about`, so text copied to another row can't be decrypted there. */
  encrypt(text: string, about: string): string;
  /** Returns undefined if neither key decrypts the text. */
  decrypt(encryptedText: string, about: string): string | undefined;
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
    decrypt(encryptedText, about) {
      const bytes = Buffer.from(encryptedText, 'base64url');
      for (const key of keys) {
        const text = decryptedWith(key, bytes, about);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

function keyFrom(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'key of the secrets of webhooks', 32));
}

function decryptedWith(key: Buffer, bytes: Buffer, about: string): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(about))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString();
  } catch {
    // Another key encrypted the text, or someone altered it. GCM doesn't tell which.
    return undefined;
  }
}
