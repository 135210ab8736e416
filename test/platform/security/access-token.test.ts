import { createHmac, createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import jwt, { type Algorithm } from 'jsonwebtoken';
import { describe, expect, it } from 'vitest';
import { isBearer } from '../../../src/market/rules/viewer.js';
import { createAccessTokens } from '../../../src/platform/security/access-token.js';
import { newId } from '../../../src/market/store/new-id.js';

const SECRET = 'a secret of more than 32 bytes, for the tests';
const PREVIOUS = 'the secret before it, also more than 32 bytes';
const START_SECONDS = 1_800_000_000;
const TTL_SECONDS = 900;

let nowSeconds = START_SECONDS;
const settings = {
  isBearer,
  secret: SECRET,
  previousSecret: PREVIOUS,
  issuer: 'market',
  audience: 'api',
  ttlSeconds: TTL_SECONDS,
  now: () => nowSeconds * 1000,
};
const tokens = createAccessTokens(settings);
const formerTokens = createAccessTokens({ ...settings, secret: PREVIOUS, previousSecret: undefined });
const bearer = { userId: newId('user'), sessionId: newId('session'), role: 'homeowner' } as const;

const good = tokens.sign(bearer).token;
const [header = '', body = '', signature = ''] = good.split('.');
const goodHeader: Record<string, unknown> = parsed(header);
const goodPayload: Record<string, unknown> = parsed(body);
const claims = { ...bearer, expiresAtSeconds: START_SECONDS + TTL_SECONDS };

function parsed(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}

function encoded(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** Signs any content correctly. A thief could get such a token only through a mistake in our code. */
function signed(headerPart: string, bodyPart: string, secret: string = SECRET, hash = 'sha256'): string {
  const signature = createHmac(hash, secret).update(`${headerPart}.${bodyPart}`).digest('base64url');
  return `${headerPart}.${bodyPart}.${signature}`;
}

const withPayload = (changes: Record<string, unknown>) => signed(header, encoded({ ...goodPayload, ...changes }));
const without = (name: string) =>
  signed(header, encoded(Object.fromEntries(Object.entries(goodPayload).filter(([key]) => key !== name))));
const withHeader = (changes: Record<string, unknown>) => signed(encoded({ ...goodHeader, ...changes }), body);

function expectRefused(forged: readonly string[]): void {
  const passed = forged.filter((token) => typeof tokens.verify(token) !== 'string');
  expect(passed).toEqual([]);
}

describe('a good access token', () => {
  it('returns its bearer and its expiry, for every role', () => {
    expect(tokens.verify(good)).toEqual(claims);
    for (const role of ['homeowner', 'contractor', 'admin'] as const) {
      expect(tokens.verify(tokens.sign({ ...bearer, role }).token)).toEqual({ ...claims, role });
    }
  });

  it('is accepted if it was signed with the previous secret, and is signed with the current one', () => {
    expect(tokens.verify(formerTokens.sign(bearer).token)).toEqual(claims);
    expect(formerTokens.verify(tokens.sign(bearer).token)).toBe('invalid');
    expect(createAccessTokens({ ...settings, previousSecret: undefined }).verify(formerTokens.sign(bearer).token)).toBe(
      'invalid',
    );
  });

  it('is valid until its last second and not longer', () => {
    nowSeconds = START_SECONDS + TTL_SECONDS - 1;
    expect(tokens.verify(good)).toEqual(claims);
    nowSeconds = START_SECONDS + TTL_SECONDS;
    expect(tokens.verify(good)).toBe('expired');
    nowSeconds = START_SECONDS;
  });

  it('may come from an instance whose clock is slightly ahead, but not from the far future', () => {
    expect(tokens.verify(withPayload({ iat: START_SECONDS + 30 }))).toEqual(claims);
    expect(tokens.verify(withPayload({ iat: START_SECONDS + 3_600 }))).toBe('issued_in_future');
    // Callers who can't sign tokens learn nothing about clocks.
    expect(tokens.verify(signed(header, encoded({ ...goodPayload, iat: START_SECONDS + 3_600 }), PREVIOUS))).toBe(
      'invalid',
    );
  });

  it('says when it expires', () => {
    expect(tokens.sign(bearer).expiresAt).toEqual(new Date((START_SECONDS + TTL_SECONDS) * 1000));
  });

  it('names its secret in the header without revealing it', () => {
    expect(goodHeader).toEqual({ alg: 'HS256', typ: 'JWT', kid: expect.stringMatching(/^[\w-]{11}$/) });
    expect(parsed(formerTokens.sign(bearer).token.split('.')[0] ?? '').kid).not.toBe(goodHeader.kid);
  });

  it("can't be created with a short secret", () => {
    expect(() => createAccessTokens({ ...settings, secret: 'x'.repeat(31) })).toThrow('at least 32 bytes');
    expect(() => createAccessTokens({ ...settings, previousSecret: 'short' })).toThrow('at least 32 bytes');
    expect(() => createAccessTokens({ ...settings, secret: '0123456789abcdef0123456789abcdeé' })).not.toThrow();
  });
});

describe('a bad access token', () => {
  it('has expired only if everything else in it is right', () => {
    const late = { exp: START_SECONDS };
    expect(tokens.verify(withPayload(late))).toBe('expired');
    const forged = [
      signed(header, encoded({ ...goodPayload, ...late }), 'x'.repeat(32)),
      withPayload({ ...late, iss: 'other' }),
      withPayload({ ...late, sub: bearer.sessionId }),
      withPayload({ ...late, role: 'root' }),
    ];
    expect(forged.map((token) => tokens.verify(token))).toEqual(forged.map(() => 'invalid'));
  });

  it("is malformed if it doesn't look like a token", () => {
    for (const token of ['', 'a.b', 'not a token', `${good} `, `${header}..${signature}`, 'A'.repeat(5_000)])
      expect(tokens.verify(token), token.slice(0, 100)).toBe('malformed');
    expect(tokens.verify('a.b.c')).toBe('invalid');
  });
});

describe('a forged or altered access token is refused', () => {
  it('with any bit flipped, at every position', () => {
    const forged = Array.from({ length: good.length }, (_, at) => at).flatMap((at) =>
      Array.from(
        { length: 7 },
        (_, bit) => good.slice(0, at) + String.fromCharCode(good.charCodeAt(at) ^ (1 << bit)) + good.slice(at + 1),
      ),
    );
    expect(forged.length).toBeGreaterThan(1_000);
    expectRefused(forged);
  });

  it('with any character replaced by another in its alphabet, including the last one', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const at = [...Array.from({ length: Math.floor(good.length / 8) }, (_, i) => i * 8), good.length - 1];
    expectRefused(
      at.flatMap((i) =>
        [...alphabet].filter((c) => c !== good[i]).map((c) => good.slice(0, i) + c + good.slice(i + 1)),
      ),
    );
  });

  it('shortened or extended anywhere', () => {
    expectRefused(Array.from({ length: good.length }, (_, at) => good.slice(0, at)));
    expectRefused(Array.from({ length: good.length }, (_, at) => good.slice(at + 1)));
    expectRefused(Array.from({ length: good.length + 1 }, (_, at) => `${good.slice(0, at)}A${good.slice(at)}`));
  });

  it("in a form that isn't a token", () => {
    const space = [' ', '\n', '\t', '\u0000', '=', '.'].flatMap((c) => [c + good, good + c]);
    expectRefused([
      '',
      '.',
      '..',
      '...',
      'null',
      '{}',
      'Bearer',
      '🔑',
      `${header}..${signature}`,
      `.${body}.${signature}`,
      `${good}.${good}`,
      good + good,
      good + signature,
      `${body}.${header}.${signature}`,
      randomBytes(240)
        .toString('base64url')
        .replace(/^(.{24})(.{180})/, '$1.$2.'),
      'undefined',
      '0',
      ...space,
    ]);
    for (const nonsense of [undefined, null, 7, {}, [good]]) {
      // The parameter's type is string. Even for other values, the function must not throw.
      expect(Reflect.apply(tokens.verify, tokens, [nonsense])).toBe('malformed');
    }
  });

  it('with the algorithm none, in any spelling, signed or not', () => {
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      const head = encoded({ ...goodHeader, alg });
      expectRefused([`${head}.${body}.`, `${head}.${body}`, `${head}.${body}.${signature}`, signed(head, body)]);
    }
    expectRefused([`${header}.${body}.`, `${header}.${body}`, jwt.sign(goodPayload, '', { algorithm: 'none' })]);
  });

  it('with another algorithm, even with our own secret', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keyid = String(goodHeader.kid);
    const rsa: readonly Algorithm[] = ['RS256', 'RS384', 'RS512', 'PS256'];
    expectRefused([
      ...rsa.map((algorithm) => jwt.sign(goodPayload, privateKey, { algorithm, keyid })),
      jwt.sign(goodPayload, ec.privateKey, { algorithm: 'ES256', keyid }),
      ...(['HS384', 'HS512'] as const).map((algorithm) => jwt.sign(goodPayload, SECRET, { algorithm, keyid })),
      signed(encoded({ ...goodHeader, alg: 'HS512' }), body, SECRET, 'sha512'),
      signed(header, body, SECRET, 'sha512'),
      // The classic attack: the public key is used as an HMAC secret.
      signed(header, body, publicKey.export({ type: 'spki', format: 'pem' }).toString()),
      ...['RS256', 'ES256', 'HS384', 'HS512', ['HS256']].map((alg) => withHeader({ alg })),
    ]);
  });

  it('with another secret', () => {
    const others = ['', 'secret', `${SECRET} `, SECRET.slice(1), SECRET.toUpperCase(), `${goodHeader.kid}`, header];
    expectRefused(others.map((secret) => signed(header, body, secret)));
    expectRefused([createAccessTokens({ ...settings, secret: 'x'.repeat(32) }).sign(bearer).token]);
  });

  it("with its parts swapped with another token's, or with another key named or included", () => {
    const [formerHeader = '', formerBody = '', formerSignature = ''] = formerTokens.sign(bearer).token.split('.');
    const [, othersBody = '', othersSignature = ''] = tokens
      .sign({ ...bearer, userId: newId('user') })
      .token.split('.');
    const ownKey = createSecretKey(Buffer.from('x'.repeat(32)));
    expectRefused([
      `${formerHeader}.${body}.${signature}`,
      `${header}.${formerBody}.${formerSignature}`,
      `${header}.${othersBody}.${signature}`,
      `${header}.${body}.${othersSignature}`,
      signed(formerHeader, body, SECRET),
      signed(header, body, PREVIOUS),
      ...['', '../../dev/null', "' or 1=1", '__proto__', 'constructor', null, 0].map((kid) => withHeader({ kid })),
      signed(encoded({ alg: 'HS256', typ: 'JWT' }), body),
      withHeader({ jwk: ownKey.export({ format: 'jwk' }) }),
      withHeader({ jku: 'https://example.test' }),
      withHeader({ crit: ['exp'] }),
      signed(encoded({ ...goodHeader, jwk: ownKey.export({ format: 'jwk' }) }), body, 'x'.repeat(32)),
    ]);
  });

  it('without one of its claims, or with any of them null', () => {
    const names = ['iss', 'aud', 'sub', 'sid', 'role', 'iat', 'exp'];
    expect(Object.keys(goodPayload).toSorted()).toEqual(names.toSorted());
    expectRefused(names.flatMap((name) => [without(name), withPayload({ [name]: null })]));
  });

  it("with an expiry that has passed, or that isn't a whole number", () => {
    const late = START_SECONDS + TTL_SECONDS;
    expectRefused([0, -1, 1, START_SECONDS, START_SECONDS - 1].map((exp) => withPayload({ exp })));
    expectRefused(
      [String(late), '', 'never', late + 0.5, true, [late], { late }, 2 ** 60].map((exp) => withPayload({ exp })),
    );
    expectRefused(
      ['1e999', '-1e999', '9e99', 'NaN'].map((exp) =>
        signed(header, encoded(JSON.stringify({ ...goodPayload, exp: 0 }).replace('"exp":0', `"exp":${exp}`))),
      ),
    );
    expectRefused(['now', 1.5, 1e300, true, [START_SECONDS]].map((iat) => withPayload({ iat })));
    expectRefused([withPayload({ nbf: late }), withPayload({ nbf: 'soon' })]);
  });

  it('from another issuer or for another audience', () => {
    const others = ['', 'Market', 'market ', 'api2', ['market'], ['api'], ['api', 'other'], {}, 7, true];
    expectRefused(others.flatMap((other) => [withPayload({ iss: other }), withPayload({ aud: other })]));
    expectRefused([
      createAccessTokens({ ...settings, issuer: 'other' }).sign(bearer).token,
      createAccessTokens({ ...settings, audience: 'other' }).sign(bearer).token,
    ]);
  });

  it('with another role', () => {
    const roles = [
      '',
      'Admin',
      'ADMIN',
      'admin ',
      'root',
      'owner',
      ['admin'],
      { admin: true },
      1,
      true,
      '__proto__',
      'toString',
    ];
    expectRefused(roles.map((role) => withPayload({ role })));
  });

  it('with IDs that are malformed or of the wrong kind', () => {
    const tail = bearer.userId.slice(4);
    const bad = [
      '',
      'usr_',
      'ses_',
      tail,
      `usr_${tail}0`,
      `usr_${tail.slice(1)}`,
      `usr_${tail}\n`,
      ` usr_${tail}`,
      `usr_${'-'.repeat(27)}`,
      `USR_${tail}`,
      newId('job'),
      [bearer.userId],
      7,
      {},
    ];
    expectRefused([...bad, bearer.sessionId].map((sub) => withPayload({ sub })));
    expectRefused([...bad, bearer.userId].map((sid) => withPayload({ sid })));
  });

  it("with a payload that isn't an object", () => {
    const payloads = [
      'null',
      '7',
      '"text"',
      'true',
      '[]',
      `[${JSON.stringify(goodPayload)}]`,
      JSON.stringify(JSON.stringify(goodPayload)),
      'no json',
      '{',
      '',
    ];
    expectRefused(payloads.map((payload) => signed(header, encoded(payload))));
    expectRefused([signed(header, Buffer.from([0xff, 0xfe, 0x00]).toString('base64url'))]);
    expectRefused([signed(header, encoded(`{"__proto__":${JSON.stringify(goodPayload)}}`))]);
  });

  it('if it is too long, even if everything in it is right', () => {
    const padded = (characters: number) => withPayload({ pad: 'x'.repeat(characters) });
    expect(tokens.verify(padded(1_000))).toEqual(claims);
    expect(padded(3_000).length).toBeGreaterThan(4_096);
    expectRefused([padded(3_000), padded(1_000_000), 'A'.repeat(10_000_000)]);
  });
});
