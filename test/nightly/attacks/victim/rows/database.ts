/** Attacks on the database: searches, deep pages, contended locks, long transactions. */
import type { Row } from '../ground.js';
import { aliased, DRY_RUN, get, graphql, post, unknownNames } from './requests.js';

const SEARCHES = ['th', 'in', 'it', 'drips', 'kitchen sink', 'day and night', 'zzzzzz', '%_%', 'no. 4'].map(
  (words) => `/v1/jobs?per_page=100&search=${encodeURIComponent(words)}`,
);
const FIFTEEN_SEARCHES = aliased(15, 'jobs(first: 20, filter: { search: "in" }) { totalCount nodes { id title } }');
const NEW_JOB = { title: 'A job', description: 'It drips day and night.' };

export const DATABASE: readonly Row[] = [
  {
    name: 'searches for common words and for two letters',
    who: 'one account',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 50,
        tokens: [people.contractor().token],
        requests: SEARCHES.map((path) => get(path)),
      },
    ],
  },
  {
    name: 'searches for common words and for two letters, all at once',
    who: '600 accounts',
    attacks: ({ people }) => [
      { kind: 'calls', connections: 400, tokens: people.crowd, requests: SEARCHES.map((path) => get(path)) },
    ],
  },
  {
    name: 'fifteen searches for two letters in documents that are each new',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 200,
        tokens: people.crowd,
        requests: [graphql(`query Q######## { ${FIFTEEN_SEARCHES} }`)],
      },
    ],
  },
  {
    name: 'pages deep in the list, and behind its end',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 300,
        tokens: people.crowd,
        requests: [
          get('/v1/jobs?page=45&per_page=100'),
          get('/v1/jobs?page=2000000000&per_page=100'),
          get('/v1/jobs?page=400&per_page=10&category=plumbing'),
        ],
      },
    ],
  },
  {
    name: 'bids and histories of a job with a thousand bids',
    who: '600 accounts',
    attacks: ({ people, crowdedJobId }) => [
      {
        kind: 'calls',
        connections: 300,
        tokens: people.crowd,
        requests: [
          get(`/v1/jobs/${crowdedJobId}/events?per_page=100`),
          get(`/v1/jobs/${crowdedJobId}/bids`),
          get(`/v1/jobs/${crowdedJobId}`),
        ],
      },
    ],
  },
  {
    name: 'a hundred publications of one draft at once',
    who: 'one account',
    attacks: async (ground) => {
      const owner = ground.people.homeowner();
      const draft = await ground.draftOf(owner);
      return [
        { kind: 'calls', connections: 100, tokens: [owner.token], requests: [post(`/v1/jobs/${draft}/publish`)] },
      ];
    },
  },
  {
    name: 'one Idempotency-Key wanted by a hundred calls at once',
    who: 'one account',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 100,
        tokens: [people.homeowner().token],
        requests: [post('/v1/jobs', NEW_JOB, { 'Idempotency-Key': 'one for all' })],
      },
    ],
  },
  {
    name: 'drafts made, all at once',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 300,
        tokens: Array.from({ length: 300 }, () => people.homeowner().token),
        requests: [post('/v1/jobs', NEW_JOB), post('/v1/jobs', NEW_JOB, { 'Idempotency-Key': 'key-########' })],
      },
    ],
  },
  {
    name: 'bids on the victim’s job, real ones and dry runs',
    who: '600 accounts',
    attacks: ({ people, victimJobId }) => [
      {
        kind: 'calls',
        connections: 200,
        tokens: people.crowd,
        requests: [
          post(`/v1/jobs/${victimJobId}/bids`, { amount: 100 }),
          ...Array.from({ length: 6 }, () => post(`/v1/jobs/${victimJobId}/bids`, { amount: 100 }, DRY_RUN)),
        ],
      },
    ],
  },
  {
    name: 'five dry bids on the victim’s job in each operation',
    who: '600 accounts',
    attacks: ({ people, victimJobId }) => {
      const bid = `submitBid(jobId: "${victimJobId}", input: { amount: 100 }) { __typename }`;
      return [
        {
          kind: 'calls',
          connections: 100,
          tokens: people.crowd,
          requests: [graphql(`mutation { a: ${bid} b: ${bid} c: ${bid} d: ${bid} e: ${bid} }`, {}, DRY_RUN)],
        },
      ];
    },
  },
  {
    name: 'dry runs of a cancellation that rejects a thousand bids',
    who: 'one account',
    attacks: ({ people, crowdedJobId }) => [
      {
        kind: 'calls',
        connections: 40,
        tokens: [people.ownerOfCrowdedJob.token],
        requests: [post(`/v1/jobs/${crowdedJobId}/cancel`, {}, DRY_RUN)],
      },
    ],
  },
  {
    name: 'cursors, filters and bodies that are no such thing',
    who: 'one account',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 100,
        tokens: [people.contractor().token],
        requests: [
          get(`/v1/jobs?after=${Buffer.from('[1,2,3]').toString('base64url')}`),
          get(`/v1/jobs?${Array.from({ length: 800 }, (_, at) => `n${at}=1`).join('&')}`),
          get(`/v1/jobs?search=${'s'.repeat(8_000)}`),
          get(`/v1/jobs/${'x'.repeat(8_000)}`),
          post('/v1/me', unknownNames(3_000)),
          { method: 'PUT', path: '/v1/me', body: `{"user": ${'['.repeat(25_000)}` },
          { method: 'PUT', path: '/v1/me', body: JSON.stringify({ user: unknownNames(3_000, 'é'.repeat(5)) }) },
        ],
      },
    ],
  },
  {
    name: 'reads as fast as they are answered',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 600,
        tokens: people.crowd,
        requests: [get('/v1/me'), get('/v1/jobs'), get('/v1/tokens'), get('/v1/bids')],
      },
    ],
  },
];
