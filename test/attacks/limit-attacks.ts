/**
 * Ways to bypass the limits that `test/platform/call/limits.test.ts` tests, such as other spellings or made-up
 * addresses.
 */
import { contractor, homeowner } from '../story/cast.js';
import type { Answer, GraphqlAnswer, Json, TestApp } from '../setup/app.js';
import { BUDGET, passed, type Attack } from './ground.js';

const SWITCHING = 'front switching';
const SPOOFING = 'spoofed forwarding headers';
const RESOURCES = 'OWASP API4:2023 (resources)';

type Call = () => Promise<Answer<Json> | GraphqlAnswer>;

const TRIES = BUDGET + 4;
const upTo = (max: number) => `${max} of ${TRIES} pass`;
const tries = (one: (i: number) => Promise<Answer<Json> | GraphqlAnswer>): Call[] =>
  Array.from({ length: TRIES }, (_, i) => () => one(i));

const from = (address: string) => ({ 'x-forwarded-for': address });
const restLogIn = (app: TestApp, email: string, headers: Record<string, string>, path = '/v1/auth/login') =>
  app.rest('POST', path, { body: { email, password: 'wrong' }, headers });

/** Without a proxy, all guesses come from one address, whatever these headers say. */
const withoutProxy = (name: string, headers: (i: number) => Record<string, string>, at = 0): Attack => ({
  name,
  source: SPOOFING,
  outcome: upTo(BUDGET),
  run: ({ unproxied }) =>
    passed(tries((i) => restLogIn(unproxied, `victim.${at}.${name.length}@example.test`, headers(i)))),
});

/** Behind one proxy, only the last entry comes from the proxy. */
const behindProxy = (name: string, forwarded: (i: number) => string, account: string): Attack => ({
  name,
  source: SPOOFING,
  outcome: upTo(BUDGET),
  run: ({ limited }) => passed(tries((i) => restLogIn(limited, `${account}@example.test`, from(forwarded(i))))),
});

/** A new user, who has already read once on joining. That leaves BUDGET - 1 reads. */
const byReader = (
  name: string,
  read: (app: TestApp, token: string, i: number) => Promise<Answer<Json> | GraphqlAnswer>,
): Attack => ({
  name,
  source: SWITCHING,
  outcome: upTo(BUDGET - 1),
  run: async ({ limited }) => {
    const { token } = await contractor(limited, 'Carl');
    return passed(tries((i) => read(limited, token, i)));
  },
});

const READ = '{ viewer { referralCode } }';

export const LIMIT_ATTACKS: readonly Attack[] = [
  byReader('reads with and without /v1', (app, token, i) =>
    app.rest('GET', i % 2 ? '/v1/tokens' : '/tokens', { token }),
  ),
  byReader('reads of a different address each', (app, token, i) =>
    app.rest('GET', ['/v1/tokens', '/v1/me', '/v1/jobs', '/v1/bids'][i % 4] ?? '', { token }),
  ),
  byReader('reads from another address each', (app, token, i) =>
    app.rest('GET', '/v1/tokens', { token, headers: from(`192.0.2.${i}`) }),
  ),
  byReader('reads by HEAD', async (app, token, i) => {
    const { status, headers } = await fetch(`${app.url}/v1/tokens?x=${i}`.replace(/\?.*/, ''), {
      method: 'HEAD',
      headers: { authorization: `Bearer ${token}` },
    });
    return { status, headers, body: { details: { code: status === 429 ? 'RATE_LIMITED' : 'OTHER' } } };
  }),
  byReader('reads with a query that means nothing', (app, token) => app.rest('GET', '/v1/jobs?page=1', { token })),
  byReader('reads that are refused for their shape', (app, token) => app.rest('GET', '/v1/jobs?page=0', { token })),
  byReader('reads by GET of GraphQL', async (app, token) => {
    const response = await fetch(`${app.url}/graphql?query=${encodeURIComponent(READ)}`, {
      headers: { authorization: `Bearer ${token}`, 'apollo-require-preflight': '1' },
    });
    return {
      status: response.status,
      headers: response.headers,
      ...((await response.json()) as Pick<GraphqlAnswer, 'data' | 'errors' | 'extensions'>),
    };
  }),
  {
    name: 'writes that only try, by Dry-Run',
    source: RESOURCES,
    outcome: upTo(BUDGET),
    run: async ({ limited }) => {
      const { token } = await homeowner(limited, 'Hugo');
      return passed(
        tries(() =>
          limited.rest('POST', '/v1/jobs', {
            token,
            body: { title: 'T', description: 'D' },
            headers: { 'dry-run': 'true' },
          }),
        ),
      );
    },
  },
  {
    name: 'logins with and without /v1',
    source: SWITCHING,
    outcome: upTo(BUDGET),
    run: ({ limited }) =>
      passed(
        tries((i) =>
          restLogIn(limited, 'both.paths@example.test', from('192.0.2.21'), i % 2 ? '/v1/auth/login' : '/auth/login'),
        ),
      ),
  },
  withoutProxy('X-Forwarded-For', (i) => from(`203.0.113.${i}`), 1),
  withoutProxy('X-Forwarded-For with many entries', (i) => from(`203.0.113.${i}, 198.51.100.${i}, 127.0.0.1`), 2),
  withoutProxy('X-Real-IP', (i) => ({ 'x-real-ip': `203.0.113.${i}` }), 3),
  withoutProxy('Forwarded', (i) => ({ forwarded: `for=203.0.113.${i}` }), 4),
  withoutProxy(
    'True-Client-IP and its kin',
    (i) => ({
      'true-client-ip': `203.0.113.${i}`,
      'cf-connecting-ip': `203.0.113.${i}`,
      'x-client-ip': `203.0.113.${i}`,
      'x-originating-ip': `203.0.113.${i}`,
      'fastly-client-ip': `203.0.113.${i}`,
    }),
    5,
  ),
  withoutProxy('X-Forwarded-Host', (i) => ({ 'x-forwarded-host': `host${i}.test` }), 6),
  behindProxy('made-up entries before the proxy’s own', (i) => `203.0.113.${i}, 192.0.2.30`, 'prepended'),
  behindProxy(
    'many made-up entries before the proxy’s own',
    (i) => `${'10.0.0.1, '.repeat(i)}203.0.113.${i}, 192.0.2.31`,
    'prepended.many',
  ),
  behindProxy('nonsense before the proxy’s own', (i) => `unknown, "${i}", ,,, 192.0.2.32`, 'nonsense'),
  behindProxy('the same address in other spellings', (i) => (i % 2 ? '::ffff:192.0.2.33' : '192.0.2.33'), 'spelling'),
  behindProxy('the same address with other ports', (i) => `192.0.2.34:${1_000 + i}`, 'ports'),
  behindProxy('other addresses of one IPv6 household', (i) => `2001:db8:0:7::${i + 1}`, 'household'),
];
