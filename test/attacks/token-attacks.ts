/** Forged and stolen tokens: RFC 8725 for JWTs, RFC 9700 for refresh tokens. Each forgery is sent to both APIs. */
import { createHash, createHmac, generateKeyPairSync } from 'node:crypto';
import { readConfig } from '../../src/app/config.js';
import { newId } from '../../src/market/store/new-id.js';
import { homeowner } from '../story/cast.js';
import { JWT_SECRET, type Json } from '../setup/app.js';
import { alike, outcomeOf, type Attack, type Ground } from './ground.js';

const NOT_SIGNED_IN = '401 UNAUTHENTICATED';
const MINUTE = 60;

interface DecodedToken {
  readonly header: Json;
  readonly payload: Json;
  readonly signature: string;
}

type Forge = (token: DecodedToken, ground: Ground) => string;

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const signed = (header: unknown, payload: unknown, secret: string = JWT_SECRET, hash = 'sha256') => {
  const content = `${encode(header)}.${encode(payload)}`;
  return `${content}.${createHmac(hash, secret).update(content).digest('base64url')}`;
};
const decode = (token: string): DecodedToken => {
  const [header = '', payload = '', signature = ''] = token.split('.');
  return {
    header: JSON.parse(Buffer.from(header, 'base64url').toString()),
    payload: JSON.parse(Buffer.from(payload, 'base64url').toString()),
    signature,
  };
};
const nowSeconds = () => Math.floor(Date.now() / 1_000);

/**
 * Each forgery comes from a valid token, and most are signed with the real secret. If one passes, a thief who knows
 * less gets in too.
 */
function forgery(name: string, section: string, forge: Forge): Attack {
  return {
    name,
    source: `RFC 8725 ${section}`,
    outcome: NOT_SIGNED_IN,
    run: async (ground) => {
      const token = forge(decode(ground.ours.people.owner.token), ground);
      return alike([
        ground.app.rest('GET', '/v1/me', { token }),
        ground.app.graphql('{ viewer { referralCode } }', { token }),
      ]);
    },
  };
}

const withClaims =
  (claims: Json): Forge =>
  ({ header, payload }) =>
    signed(header, { ...payload, ...claims });
const withoutClaim =
  (name: string): Forge =>
  ({ header, payload: { [name]: _gone, ...rest } }) =>
    signed(header, rest);
const withHeader =
  (more: Json): Forge =>
  ({ header, payload }) =>
    signed({ ...header, ...more }, payload);
const signedWith =
  (secret: string): Forge =>
  ({ header, payload }) =>
    signed(header, payload, secret);
const publicKey = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }).toString();

const WEAK_SECRETS = ['', 'secret', 'password', 'changeme', 'your-256-bit-secret', 'jwt', 'job-marketplace', '123456'];

const FORGERIES: readonly Attack[] = [
  forgery(
    'the algorithm none',
    '3.1',
    ({ header, payload }) => `${encode({ ...header, alg: 'none' })}.${encode(payload)}.`,
  ),
  forgery(
    'the algorithm nOnE, with the old signature',
    '3.1',
    ({ header, payload, signature }) => `${encode({ ...header, alg: 'nOnE' })}.${encode(payload)}.${signature}`,
  ),
  forgery('no signature at all', '3.1', ({ header, payload }) => `${encode(header)}.${encode(payload)}.`),
  forgery('HS512 with the right secret', '3.1', ({ header, payload }) =>
    signed({ ...header, alg: 'HS512' }, payload, JWT_SECRET, 'sha512'),
  ),
  forgery('RS256 in words', '3.1', withHeader({ alg: 'RS256' })),
  forgery('a public key as the secret', '3.1 (key confusion)', ({ header, payload }) =>
    signed(header, payload, publicKey()),
  ),
  forgery(
    'a changed payload under the old signature',
    '3.3',
    ({ header, payload, signature }) => `${encode(header)}.${encode({ ...payload, role: 'admin' })}.${signature}`,
  ),
  forgery('another secret', '3.5', signedWith('another secret, as long as it must be')),
  ...WEAK_SECRETS.map((secret) =>
    forgery(`the weak secret ${JSON.stringify(secret)}`, '3.5 (weak keys)', signedWith(secret)),
  ),
  forgery('a kid of nobody', '3.10', withHeader({ kid: 'nobody' })),
  forgery('a kid that is a path', '3.10', withHeader({ kid: '../../../dev/null' })),
  forgery('a kid that is SQL', '3.10', withHeader({ kid: "' union select 'secret" })),
  forgery('no kid', '3.10', ({ payload }) => signed({ alg: 'HS256', typ: 'JWT' }, payload)),
  forgery('a key brought along', '3.10', ({ header, payload }) =>
    signed({ ...header, jwk: { kty: 'oct', k: encode('mine') } }, payload, 'mine'),
  ),
  forgery(
    'a key to be fetched',
    '3.10',
    withHeader({ jku: 'https://evil.example.test/keys', x5u: 'https://evil.example.test/key' }),
  ),
  forgery('a critical extension', '3.10', withHeader({ crit: ['exp'] })),
  forgery('another issuer', '3.8', withClaims({ iss: 'another-market' })),
  forgery('no issuer', '3.8', withoutClaim('iss')),
  forgery('another audience', '3.9', withClaims({ aud: 'another-api' })),
  forgery('a list of audiences', '3.9', withClaims({ aud: ['job-marketplace', 'another-api'] })),
  forgery('no audience', '3.9', withoutClaim('aud')),
  forgery('expired a second ago', '3.8', (token, ground) => withClaims({ exp: nowSeconds() - 1 })(token, ground)),
  forgery('no expiry', '3.8', withoutClaim('exp')),
  forgery('an expiry in words', '3.8', withClaims({ exp: 'never' })),
  forgery('not yet good', '3.8', (token, ground) => withClaims({ nbf: nowSeconds() + MINUTE })(token, ground)),
  forgery('issued tomorrow', '3.8', (token, ground) =>
    withClaims({ iat: nowSeconds() + 24 * 60 * MINUTE })(token, ground),
  ),
  forgery('a text for a payload', '3.11', ({ header, payload }) =>
    signed(header, JSON.stringify(JSON.stringify(payload))),
  ),
  forgery('a list for a payload', '3.11', ({ header, payload }) => signed(header, [payload])),
  forgery('someone else’s id over one’s own session', '3.8', (token, ground) =>
    withClaims({ sub: ground.theirs.people.owner.userId })(token, ground),
  ),
  forgery('a session that never was', '3.8', withClaims({ sid: newId('session') })),
  forgery('a role that nobody has', '3.8', withClaims({ role: 'root' })),
  forgery('a refresh token for an access token', '3.12', (_token, { ours }) => ours.people.owner.refreshToken),
];

const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');
const refresh = ({ app }: Ground, refresh_token: string) =>
  app.rest('POST', '/v1/auth/refresh', { body: { refresh_token } });

/** A user whose session the attack may ruin. */
const victim = ({ app }: Ground) => homeowner(app, 'Vera');

export const TOKEN_ATTACKS: readonly Attack[] = [
  ...FORGERIES,
  {
    name: 'a role that the account does not have, rightly signed',
    source: 'RFC 8725 3.8',
    outcome: '403 FORBIDDEN',
    run: async (ground) => {
      const { header, payload } = decode(ground.ours.people.stranger.token);
      return outcomeOf(
        await ground.app.rest('POST', `/v1/jobs/${ground.ours.open.id}/complete`, {
          token: signed(header, { ...payload, role: 'admin' }),
          body: { reason: 'x' },
        }),
      );
    },
  },
  {
    name: 'a secret of 31 bytes in production',
    source: 'RFC 8725 3.5',
    outcome: 'the server does not start',
    run: async () => {
      try {
        readConfig({ NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(31) });
      } catch {
        return 'the server does not start';
      }
      return 'it starts';
    },
  },
  {
    name: 'a refresh token used again after its successor was',
    source: 'RFC 9700 4.14',
    outcome: '401 INVALID_REFRESH_TOKEN',
    run: async (ground) => {
      const vera = await victim(ground);
      const { body } = await refresh(ground, vera.refreshToken);
      await refresh(ground, body.refresh_token);
      return outcomeOf(await refresh(ground, vera.refreshToken));
    },
  },
  {
    name: 'a stolen refresh token used after its owner’s use: the whole family ends',
    source: 'RFC 9700 4.14',
    outcome: '401 INVALID_REFRESH_TOKEN, then 401 INVALID_REFRESH_TOKEN and 401 UNAUTHENTICATED',
    run: async (ground) => {
      const vera = await victim(ground);
      const { body: next } = await refresh(ground, vera.refreshToken);
      const [used] = await ground.app
        .sql`update refresh_tokens set used_at = now() - interval '61 seconds' where used_at is not null
          and session_id in (select id from sessions where user_id = ${vera.userId}) returning hash`;
      if (used?.hash !== hashOf(vera.refreshToken)) throw new Error('The used token was not found.');
      const theft = outcomeOf(await refresh(ground, vera.refreshToken));
      return (
        `${theft}, ` +
        `then ${outcomeOf(await refresh(ground, next.refresh_token))} ` +
        `and ${outcomeOf(await ground.app.rest('GET', '/v1/me', { token: next.token }))}`
      );
    },
  },
  {
    name: 'a refresh token raced by two: both get the same successor',
    source: 'RFC 9700 4.14',
    outcome: '200 with 1 successor',
    run: async (ground) => {
      const { refreshToken } = await victim(ground);
      const both = await Promise.all([refresh(ground, refreshToken), refresh(ground, refreshToken)]);
      const successors = new Set(both.map(({ body }) => body.refresh_token));
      const statuses = new Set(both.map(({ status }) => status));
      return `${[...statuses].join(', ')} with ${successors.size} successor`;
    },
  },
  {
    name: 'a refresh token after the logout',
    source: 'RFC 9700 4.14',
    outcome: '401 INVALID_REFRESH_TOKEN',
    run: async (ground) => {
      const vera = await victim(ground);
      await ground.app.rest('POST', '/v1/auth/logout', { token: vera.token });
      return outcomeOf(await refresh(ground, vera.refreshToken));
    },
  },
  {
    name: 'an access token after the logout',
    source: 'OWASP API2:2023',
    outcome: NOT_SIGNED_IN,
    run: async (ground) => {
      const vera = await victim(ground);
      await ground.app.graphql('mutation { logOut { sessionId } }', { token: vera.token });
      return alike([
        ground.app.rest('GET', '/v1/me', { token: vera.token }),
        ground.app.graphql('{ viewer { referralCode } }', { token: vera.token }),
      ]);
    },
  },
  {
    name: 'another session after the password was changed',
    source: 'OWASP API2:2023',
    outcome: NOT_SIGNED_IN,
    run: async (ground) => {
      const vera = await victim(ground);
      const { body: other } = await ground.app.rest('POST', '/v1/auth/login', {
        body: { email: vera.email, password: vera.password },
      });
      await ground.app.rest('POST', '/v1/me/password', {
        token: vera.token,
        body: { current_password: vera.password, new_password: 'a better password' },
      });
      return outcomeOf(await ground.app.rest('GET', '/v1/me', { token: other.token }));
    },
  },
  {
    name: 'the new password without the old one',
    source: 'OWASP API2:2023',
    outcome: '400 VALIDATION_FAILED',
    run: async ({ app, ours }) =>
      outcomeOf(
        await app.rest('POST', '/v1/me/password', {
          token: ours.people.stranger.token,
          body: { new_password: 'a better password' },
        }),
      ),
  },
  {
    name: 'a refresh token in the address',
    source: 'RFC 9700 4.3',
    outcome: '400 VALIDATION_FAILED',
    run: async ({ app, ours }) =>
      outcomeOf(await app.rest('POST', `/v1/auth/refresh?refresh_token=${ours.people.owner.refreshToken}`)),
  },
  {
    name: 'an access token in the address',
    source: 'RFC 9700 2.3',
    outcome: NOT_SIGNED_IN,
    run: async ({ app, ours }) => outcomeOf(await app.rest('GET', `/v1/me?access_token=${ours.people.owner.token}`)),
  },
  {
    name: 'an access token in a cookie',
    source: 'OWASP API2:2023',
    outcome: NOT_SIGNED_IN,
    run: async ({ app, ours }) =>
      outcomeOf(await app.rest('GET', '/v1/me', { headers: { cookie: `token=${ours.people.owner.token}` } })),
  },
  {
    name: 'an access token by another scheme',
    source: 'OWASP API2:2023',
    outcome: NOT_SIGNED_IN,
    run: async ({ app, ours }) =>
      outcomeOf(await app.rest('GET', '/v1/me', { headers: { authorization: `Basic ${ours.people.owner.token}` } })),
  },
  {
    name: 'a known email distinguished from an unknown one by the answer',
    source: 'OWASP API2:2023',
    outcome: 'the same answer',
    run: async ({ app, ours }) => {
      const ask = async (email: string) =>
        JSON.stringify(
          (
            await app.rest('POST', '/v1/auth/login', {
              body: { email, password: 'wrong' },
              headers: { 'x-request-id': 'the-same-id' },
            })
          ).body,
        );
      return (await ask(ours.people.owner.email)) === (await ask('nobody@example.test'))
        ? 'the same answer'
        : 'distinguished';
    },
  },
];
