/** Problems found on the server before it had fair quotas, one row for each. */
import type { Row } from '../ground.js';
import type { Person } from '../people.js';
import { aliased, bytesOf, DRY_RUN, graphql, post, TINY, unknownNames, WRONG_LOG_IN } from './requests.js';

const CREATE = 'mutation Create($input: CreateJobInput!) { createJob(input: $input) { __typename } }';
const LOG_IN = 'mutation LogIn($input: LogInInput!) { logIn(input: $input) { __typename } }';
/** Sends the same document a few times first, so the server knows it. */
const knownThen = (names: number) => {
  const small = graphql(CREATE, { input: { title: 'A', description: 'B' } });
  return [
    small,
    small,
    small,
    small,
    ...Array.from({ length: 40 }, () =>
      graphql(CREATE, { input: { title: 'A', description: 'B', ...unknownNames(names) } }),
    ),
  ];
};

const CYCLE = 90;
const cyclicFragments = Array.from(
  { length: CYCLE },
  (_, at) => `fragment F${at} on Query { ...F${(at + 1) % CYCLE} ...F${(at + 2) % CYCLE} }`,
).join(' ');

const logInFirst = bytesOf('POST', '/v1/auth/login', {
  body: JSON.stringify({ email: 'someone@example.test', password: 'a guess' }),
});

const changes = ({ password }: Person, many: number) =>
  post(
    '/v1/me/password',
    { current_password: password, new_password: password },
    { 'Idempotency-Key': `key-${many}-########` },
  );

const nested = (field: string) =>
  `query Nested($after: String) { jobs(first: 100, filter: { status: OPEN }) { nodes { id ${field} } } }`;

export const FINDINGS: readonly Row[] = [
  {
    name: '4,000 unknown names in a variable of a known document',
    finding: 1,
    who: 'anonymous',
    attacks: () => [{ kind: 'calls', connections: 2, requests: knownThen(4_000) }],
  },
  {
    name: '111 KB of unknown names in a variable of a known document',
    finding: 1,
    who: 'anonymous',
    attacks: () => [{ kind: 'calls', connections: 2, requests: knownThen(10_800) }],
  },
  {
    name: '111 KB of unknown names on the plain path, where the 51st error was INTERNAL',
    finding: 1,
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'calls',
        connections: 4,
        requests: [
          {
            ...graphql(
              `
                # ########
                ${CREATE}
              `,
              { input: { title: 'A', description: 'B', ...unknownNames(10_700) } },
            ),
          },
        ],
      },
    ],
  },
  {
    name: 'ninety cyclic fragments',
    finding: 1,
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'calls',
        connections: 8,
        requests: [
          graphql(`
            # ########
            {
              ...F0
            }
            ${cyclicFragments}
          `),
        ],
      },
    ],
  },
  {
    name: '200,000 tiny requests sent ahead behind one login, then a hang-up',
    finding: 2,
    isOfConnections: true,
    who: 'anonymous',
    forMs: 3_000,
    attacks: () => [
      {
        kind: 'connections',
        connections: 1,
        first: logInFirst,
        next: TINY.repeat(1_000),
        nextTimes: 200,
        take: 'nothing',
        hangUpAfterMs: 1_000,
      },
    ],
  },
  {
    name: 'dry runs of logins, 25 at once, then five a second',
    finding: 3,
    who: 'anonymous',
    hashesOn: true,
    attacks: () => [
      { kind: 'calls', atFirst: 25, perSecond: 5, requests: [graphql(LOG_IN, { input: WRONG_LOG_IN }, DRY_RUN)] },
    ],
  },
  {
    name: 'dry runs over both APIs, 25 at once, then five a second',
    finding: 3,
    who: 'one account',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        atFirst: 25,
        perSecond: 5,
        tokens: [people.homeowner().token],
        requests: [
          post('/v1/jobs', { title: 'A', description: 'B' }, DRY_RUN),
          graphql(CREATE, { input: { title: 'A', description: 'B' } }, DRY_RUN),
          graphql('query { viewer { tokens { balance } } }', {}, DRY_RUN),
        ],
      },
    ],
  },
  {
    name: 'a dry run of submitBid on the victim’s job together with four changePassword',
    finding: 3,
    who: 'a few accounts',
    hashesOn: true,
    attacks: ({ people, victimJobId }) => [
      {
        kind: 'calls',
        connections: 3,
        requests: Array.from({ length: 3 }, () => {
          const bidder = people.contractor();
          const passwords = `currentPassword: "${bidder.password}", newPassword: "${bidder.password} anew"`;
          const change = `changePassword(input: { ${passwords} }) { __typename }`;
          const changes = `a: ${change} b: ${change} c: ${change} d: ${change}`;
          return {
            ...graphql(
              `mutation { submitBid(jobId: "${victimJobId}", input: { amount: 100 }) { __typename } ${changes} }`,
              {},
              DRY_RUN,
            ),
            token: bidder.token,
          };
        }),
      },
    ],
  },
  {
    name: 'changePassword with an Idempotency-Key, many at once',
    finding: 3,
    who: 'a few accounts',
    hashesOn: true,
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 24,
        requests: Array.from({ length: 24 }, (_, at) => {
          const owner = people.homeowner();
          return { ...changes(owner, at), token: owner.token };
        }),
      },
    ],
  },
  {
    name: 'dry runs of changePassword, many at once',
    finding: 3,
    who: 'one account',
    hashesOn: true,
    attacks: ({ people }) => {
      const owner = people.homeowner();
      return [
        {
          kind: 'calls',
          connections: 40,
          tokens: [owner.token],
          requests: [
            post(
              '/v1/me/password',
              { current_password: owner.password, new_password: `${owner.password} anew` },
              DRY_RUN,
            ),
          ],
        },
      ];
    },
  },
  {
    name: '100 drafts of 60 KB under 16 names, unread on sixteen connections',
    finding: 4,
    who: 'one account',
    forMs: 3_000,
    attacks: async (ground) => {
      const owner = await ground.homeownerWithLongDrafts(100);
      const body = JSON.stringify({
        query: `{ ${aliased(16, 'jobs(first: 100) { nodes { title description requirements } }')} }`,
      });
      return [
        {
          kind: 'connections',
          connections: 16,
          tokens: [owner.token],
          take: 'nothing',
          first: bytesOf('POST', '/graphql', { headers: ['Authorization: Bearer @TOKEN@'], body }),
        },
      ];
    },
  },
  {
    name: 'pages of 6 MB over REST, unread on a hundred connections',
    finding: 4,
    who: 'one account',
    forMs: 3_000,
    attacks: async (ground) => {
      const owner = await ground.homeownerWithLongDrafts(100);
      return [
        {
          kind: 'connections',
          connections: 100,
          tokens: [owner.token],
          take: 'nothing',
          first: bytesOf('GET', '/v1/jobs?per_page=100', { headers: ['Authorization: Bearer @TOKEN@'] }),
          times: 5,
        },
      ];
    },
  },
  nestedRow('bids(after:)', 'bids(first: 1, after: $after) { nodes { id } }', 'bids'),
  nestedRow('timeline(after:)', 'timeline(first: 1, after: $after) { nodes { id } }', 'timeline'),
  {
    name: '110 wrong logins at once',
    finding: 6,
    who: 'anonymous',
    hashesOn: true,
    attacks: () => [{ kind: 'calls', connections: 110, requests: [post('/v1/auth/login', WRONG_LOG_IN)] }],
  },
  {
    name: '10,300 half-sent heads',
    finding: 6,
    isOfConnections: true,
    who: 'anonymous',
    attacks: () =>
      Array.from({ length: 3 }, (_, at) => ({
        kind: 'connections' as const,
        connections: 3_434,
        firstLocalPort: 10_000 + 4_000 * at,
        first: 'GET /v1/me HTTP/1.1\r\nHost: a\r\n',
        drip: { text: 'X-A: b\r\n', everyMs: 1_500 },
      })),
  },
  {
    name: '6,000 unknown names in a body, on the login route too',
    finding: 7,
    who: 'one account',
    hashesOn: true,
    attacks: ({ people }) => {
      const names = unknownNames(6_000);
      return [
        {
          kind: 'calls',
          connections: 16,
          tokens: [people.homeowner().token],
          requests: [
            post('/v1/auth/login', names),
            post('/v1/jobs', names),
            post('/v1/auth/refresh', names),
            post('/v1/auth/signup/homeowner', names),
          ],
        },
      ];
    },
  },
];

function nestedRow(name: string, field: string, list: 'bids' | 'timeline'): Row {
  return {
    name: `${name} inside a page of jobs, at the whole read budget`,
    finding: 5,
    who: 'one account',
    attacks: async (ground) => [
      {
        kind: 'calls',
        perSecond: 300,
        burst: 15,
        tokens: [ground.people.contractor().token],
        requests: [graphql(nested(field), { after: await ground.cursorIn(list) })],
      },
    ],
  };
}
