/**
 * The rest of OWASP's top ten: misused flows, servers tricked into requests, and settings and addresses that shouldn't
 * exist.
 */
import { callRest } from '../story/calls.js';
import { contractor, homeowner } from '../story/cast.js';
import { alike, outcomeOf, type Attack, type Ground } from './ground.js';

const FLOWS = 'OWASP API6:2023 (business flows)';
const SSRF = 'OWASP API7:2023 (SSRF)';
const SETTINGS = 'OWASP API8:2023 (configuration)';
const INVENTORY = 'OWASP API9:2023 (inventory)';

const picture =
  (url: string) =>
  async ({ app, ours }: Ground) =>
    outcomeOf(
      await app.rest('PUT', '/v1/me', { token: ours.people.owner.token, body: { user: { profile_picture_url: url } } }),
    );
const head = async ({ app }: Pick<Ground, 'app'>, path: string, init: RequestInit = {}) =>
  (await fetch(app.url + path, init)).headers;
const nobody = (path: string): Attack => ({
  name: path,
  source: INVENTORY,
  outcome: '404 NOT_FOUND',
  run: async ({ production, ours }) =>
    outcomeOf(await production.rest('GET', path, { token: ours.people.admin.token })),
});

const UNKNOWN_ADDRESSES = [
  '/admin',
  '/v1/admin',
  '/v2/jobs',
  '/v0/jobs',
  '/beta/jobs',
  '/debug',
  '/.env',
  '/.git/config',
  '/graphiql',
  '/playground',
  '/altair',
  '/voyager',
  '/v1/graphql',
  '/console',
  '/swagger.json',
  '/actuator',
  '/server-status',
  '/package.json',
  '/v1/accounts',
  '/v1/holds',
];

export const MISUSE_ATTACKS: readonly Attack[] = [
  {
    name: 'a sign-up recommended by oneself',
    source: FLOWS,
    outcome: '400 EMAIL_TAKEN',
    run: async ({ app }) => {
      const hugo = await homeowner(app, 'Hugo');
      return outcomeOf(
        await app.rest('POST', '/v1/auth/signup/homeowner', {
          body: {
            email: hugo.email.toUpperCase(),
            password: 'a password',
            first_name: 'H',
            last_name: 'H',
            referral_code: hugo.referralCode,
          },
        }),
      );
    },
  },
  {
    name: 'one email signed up by both APIs at once',
    source: FLOWS,
    outcome: '1 of 6, with one bonus',
    run: async ({ app }) => {
      const email = 'racer@example.test';
      const fields = { email, password: 'a password' };
      const query = 'mutation ($input: SignUpHomeownerInput!) { signUpHomeowner(input: $input) { token } }';
      await Promise.all(
        Array.from({ length: 6 }, (_, i) =>
          i % 2
            ? app.rest('POST', '/v1/auth/signup/homeowner', { body: { ...fields, first_name: 'R', last_name: 'R' } })
            : app.graphql(query, { variables: { input: { ...fields, firstName: 'R', lastName: 'R' } } }),
        ),
      );
      const came =
        await app.sql`select balance from users join token_balances on user_id = users.id where email = ${email}`;
      return `${came.length} of 6, with ${came[0]?.balance === 10 ? 'one bonus' : `${came[0]?.balance} tokens`}`;
    },
  },
  {
    name: 'a publication paid once and had twice, by both APIs at once',
    source: FLOWS,
    outcome: '200, 400 INVALID_TRANSITION and 5 tokens less',
    run: async ({ app }) => {
      const hugo = await homeowner(app, 'Hugo');
      const { body: job } = await app.rest('POST', '/v1/jobs', {
        token: hugo.token,
        body: {
          title: 'T',
          description: 'D',
          category: 'c',
          urgency: 'standard',
          address_line1: 'a',
          city: 'c',
          state: 's',
        },
      });
      const calls = await alike(
        [0, 1, 2, 3].map((i) =>
          i % 2
            ? app.rest('POST', `/v1/jobs/${job.id}/publish`, { token: hugo.token })
            : app.graphql(`mutation { publishJob(id: "${job.id}") { tokensCharged } }`, { token: hugo.token }),
        ),
      );
      const { body } = await app.rest('GET', '/v1/tokens', { token: hugo.token });
      return `${calls} and ${10 - body.balance} tokens less`;
    },
  },
  {
    name: 'two bids on one job at once',
    source: FLOWS,
    outcome: '201, 400 DUPLICATE_BID',
    run: async ({ app, theirs }) => {
      const carl = await contractor(app, 'Carl');
      return alike(
        [0, 1, 2].map(() => callRest(app, 'submitBid', { by: carl, job: theirs.open.id, body: { amount: 5 } })),
      );
    },
  },
  {
    name: 'a stake that is more than one has',
    source: FLOWS,
    outcome: '400 INSUFFICIENT_TOKENS',
    run: async ({ app, theirs }) => {
      const carl = await contractor(app, 'Carl');
      await app.rest('POST', '/v1/tokens/adjustments', {
        token: theirs.people.admin.token,
        body: { user_id: carl.userId, amount: -25, reason: 'A test.' },
      });
      return outcomeOf(
        await callRest(app, 'submitBid', { by: carl, job: theirs.open.id, body: { amount: 5, guaranteed_view: true } }),
      );
    },
  },
  {
    name: 'a bid of nothing, and one below',
    source: FLOWS,
    outcome: '400 VALIDATION_FAILED',
    run: ({ app, ours, theirs }) =>
      alike(
        [0, -5, 0.001].map((amount) =>
          callRest(app, 'submitBid', { by: ours.people.stranger, job: theirs.open.id, body: { amount } }),
        ),
      ),
  },
  {
    name: 'a key of one’s own for another’s answer',
    source: FLOWS,
    outcome: '201, then 201 of their own',
    run: async ({ app, ours, theirs }) => {
      const create = (token: string) =>
        app.rest('POST', '/v1/jobs', {
          token,
          body: { title: 'T', description: 'D' },
          headers: { 'idempotency-key': 'the same key' },
        });
      const [one, other] = [await create(ours.people.owner.token), await create(theirs.people.owner.token)];
      return `${one.status}, then ${other.status}${one.body.id === other.body.id ? ' replayed' : ' of their own'}`;
    },
  },

  {
    name: 'a picture that lies on this machine',
    source: SSRF,
    outcome: '200',
    run: (ground) => picture(ground.trap.url)(ground),
  },
  {
    name: 'a web site that lies on this machine',
    source: 'OWASP API10:2023 (unsafe consumption)',
    outcome: '200',
    run: async ({ app, ours, trap }) =>
      outcomeOf(
        await app.rest('PUT', '/v1/me', {
          token: ours.people.stranger.token,
          body: { contractor: { website: trap.url } },
        }),
      ),
  },
  ...[
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    '//example.test',
  ].map((url) => ({ name: `a picture at ${url}`, source: SSRF, outcome: '400 VALIDATION_FAILED', run: picture(url) })),
  {
    name: 'a token’s key to be fetched from this machine',
    source: SSRF,
    outcome: '401 UNAUTHENTICATED',
    run: async ({ app, trap: { url } }) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return outcomeOf(
        await app.rest('GET', '/v1/me', {
          token: `${part({ alg: 'RS256', jku: url, x5u: url })}.${part({ sub: 'x' })}.x`,
        }),
      );
    },
  },

  {
    name: 'a page of another origin',
    source: SETTINGS,
    outcome: 'not allowed',
    run: async (ground) =>
      (await head(ground, '/v1/me', { headers: { origin: 'https://evil.example.test' } })).get(
        'access-control-allow-origin',
      ) ?? 'not allowed',
  },
  {
    name: 'the origin null',
    source: SETTINGS,
    outcome: 'not allowed',
    run: async (ground) =>
      (await head(ground, '/graphql', { headers: { origin: 'null' } })).get('access-control-allow-origin') ??
      'not allowed',
  },
  {
    name: 'a frame around the pages',
    source: SETTINGS,
    outcome: "DENY, frame-ancestors 'none'",
    run: async (ground) => {
      const headers = await head(ground, '/graphql', { headers: { accept: 'text/html' } });
      const [ancestors] = /frame-ancestors '\w+'/.exec(headers.get('content-security-policy') ?? '') ?? [];
      return `${headers.get('x-frame-options')}, ${ancestors}`;
    },
  },
  {
    name: 'a cache that keeps a private answer',
    source: SETTINGS,
    outcome: 'no-store',
    run: async (ground) =>
      (await head(ground, '/v1/me', { headers: { authorization: `Bearer ${ground.ours.people.owner.token}` } })).get(
        'cache-control',
      ) ?? 'kept',
  },
  {
    name: 'the name of the software',
    source: SETTINGS,
    outcome: 'none',
    run: async (ground) => {
      const headers = await head(ground, '/v1/me');
      return headers.get('server') ?? headers.get('x-powered-by') ?? 'none';
    },
  },
  {
    name: 'the metrics through a proxy on this machine',
    source: SETTINGS,
    outcome: '403 FORBIDDEN',
    run: async ({ production }) =>
      outcomeOf(
        await production
          .rest('GET', '/metrics', { headers: { 'x-forwarded-for': '203.0.113.9' } })
          .catch(() => ({ status: 200, headers: new Headers(), body: {} })),
      ),
  },
  {
    name: 'the admin’s password of the examples',
    source: SETTINGS,
    outcome: '401 INVALID_CREDENTIALS',
    run: ({ production }) =>
      alike(
        ['admin', 'password', 'admin123', 'changeme'].map((password) =>
          production.rest('POST', '/v1/auth/login', { body: { email: 'ada.admin@example.test', password } }),
        ),
      ),
  },

  ...UNKNOWN_ADDRESSES.map(nobody),
];
