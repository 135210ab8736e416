/** Attacks on login and sign-up: guessed passwords, new accounts, forged tokens. */
import type { Row } from '../ground.js';
import { bytesOf, graphql, post, WRONG_LOG_IN } from './requests.js';

const KSUID_OF_A_NUMBER = '1AbCdEfGhIjKlMnOpQr########';
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const SIGN_UP = {
  email: 'joined.########@example.test',
  password: 'a password for this test',
  first_name: 'A',
  last_name: 'B',
};
const ABANDONED_BODY = '{"email":"gone.########@example.test","password":"a guess"}';
const ABANDONED_LOG_IN =
  bytesOf('POST', '/v1/auth/login', {
    headers: ['Content-Type: application/json', `Content-Length: ${ABANDONED_BODY.length}`],
  }) + ABANDONED_BODY;
const SIGN_UP_DOCUMENT =
  'mutation Join($input: SignUpHomeownerInput!) { signUpHomeowner(input: $input) { __typename } }';

export const LOG_INS: readonly Row[] = [
  {
    name: 'logins for many e-mails from eight addresses',
    who: 'anonymous',
    hashesOn: true,
    attacks: ({ addresses }) => [
      { kind: 'calls', connections: 320, addresses: addresses(8), requests: [post('/v1/auth/login', WRONG_LOG_IN)] },
    ],
  },
  {
    name: 'logins given up by a reset as soon as they are sent, from ten addresses',
    who: 'anonymous',
    hashesOn: true,
    attacks: ({ addresses }) => [
      {
        kind: 'connections',
        openPerSecond: 80,
        addresses: addresses(10),
        first: ABANDONED_LOG_IN,
        hangUpAfterMs: 5,
        byReset: true,
      },
    ],
  },
  {
    name: 'wrong passwords for the victim’s own e-mail',
    who: 'anonymous',
    hashesOn: true,
    attacks: ({ victimEmail }) => [
      {
        kind: 'calls',
        connections: 50,
        requests: [post('/v1/auth/login', { email: victimEmail, password: 'a guess' })],
      },
    ],
  },
  {
    name: 'links to set a new password, asked for the victim and for thousands of made-up addresses',
    who: 'anonymous',
    attacks: ({ addresses, victimEmail }) => [
      {
        kind: 'calls',
        connections: 160,
        addresses: addresses(8),
        requests: [
          post('/v1/auth/password-reset', { email: victimEmail }),
          post('/v1/auth/password-reset', { email: 'nobody.########@example.test' }),
        ],
      },
    ],
  },
  {
    name: 'mails to one address, by a change of email with 100 accounts at once',
    who: '600 accounts',
    hashesOn: true,
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 100,
        requests: Array.from({ length: 100 }, () => people.contractor()).map(({ token, password }) =>
          post(
            '/v1/me/email',
            { email: 'bombed@example.test', current_password: password },
            { Authorization: `Bearer ${token}` },
          ),
        ),
      },
    ],
  },
  {
    name: 'links to set a new password that are guessed',
    who: 'anonymous',
    attacks: ({ addresses }) => [
      {
        kind: 'calls',
        connections: 160,
        addresses: addresses(8),
        requests: [
          post('/v1/auth/password-reset/confirm', { token: 'guess-########', new_password: 'a good password' }),
        ],
      },
    ],
  },
  {
    name: 'right logins with 100 accounts at once',
    who: '600 accounts',
    hashesOn: true,
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 100,
        requests: Array.from({ length: 100 }, () => people.contractor()).map(({ email, password }) =>
          post('/v1/auth/login', { email, password }),
        ),
      },
    ],
  },
  {
    name: 'sign-ups through both APIs, 200 at once',
    who: 'anonymous',
    hashesOn: true,
    attacks: () => [
      {
        kind: 'calls',
        connections: 200,
        requests: [
          post('/v1/auth/signup/homeowner', SIGN_UP),
          graphql(SIGN_UP_DOCUMENT, {
            input: { email: SIGN_UP.email, password: SIGN_UP.password, firstName: 'A', lastName: 'B' },
          }),
        ],
      },
    ],
  },
  {
    name: 'refresh tokens that are nobody’s',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'calls',
        connections: 200,
        requests: [post('/v1/auth/refresh', { refresh_token: `rft_${KSUID_OF_A_NUMBER}` })],
      },
    ],
  },
  {
    name: 'access tokens that nobody signed, and API keys of nobody',
    who: 'anonymous',
    attacks: ({ people }) => {
      const [head = '', payload = ''] = people.homeowner().token.split('.');
      return [
        {
          kind: 'calls',
          connections: 200,
          requests: [
            { path: '/v1/me', headers: bearer(`${head}.${payload}.${'A'.repeat(35)}########`) },
            { path: '/v1/me', headers: bearer(`jmk_${'A'.repeat(32)}########`) },
            { path: '/v1/me', headers: bearer('x'.repeat(4_000)) },
          ],
        },
      ];
    },
  },
  {
    name: 'passwords changed, forty at once',
    who: 'one account',
    hashesOn: true,
    attacks: ({ people }) => {
      const { token, password } = people.homeowner();
      return [
        {
          kind: 'calls',
          connections: 40,
          tokens: [token],
          requests: [post('/v1/me/password', { current_password: password, new_password: password })],
        },
      ];
    },
  },
  {
    name: 'sessions ended and used, over and over',
    who: '600 accounts',
    attacks: ({ people }) => {
      const tokens = Array.from({ length: 50 }, () => people.homeowner().token);
      return [
        {
          kind: 'calls',
          connections: 50,
          tokens,
          requests: [
            ...Array.from({ length: 50 }, () => ({ path: '/v1/me' })),
            ...Array.from({ length: 50 }, () => post('/v1/auth/logout')),
          ],
        },
      ];
    },
  },
];
