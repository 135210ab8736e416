/** GraphQL that nobody writes: documents that are long, deep, wide, wrong, or always new, so no cache helps. */
import { createHash } from 'node:crypto';
import type { Row } from '../ground.js';
import { aliased, graphql, post } from './requests.js';

const repeated = (times: number, text: string) => Array.from({ length: times }, () => text).join(' ');
const numbered = (times: number, text: (at: number) => string) =>
  Array.from({ length: times }, (_, at) => text(at)).join(' ');
const NEW = '# ########\n';

/** Many selections of the same fields, which validation compares with each other. */
const MERGED = `{ ${repeated(60, 'jobs { nodes { id title homeowner { id user { id } } } }')} }`;
/** The same, with fragments that spread others. */
const PATH = 'user { contractor { user { contractor { user { contractor { user {';
const MERGED_FRAGMENTS = `{ ${numbered(14, (at) => `...F${at}`)} } ${numbered(
  14,
  (at) => `fragment F${at} on Query { viewer { ${PATH} id firstName lastName email }}}}}}} ...G${at} } }
    fragment G${at} on Viewer { ${PATH} id x${at}: firstName }}}}}}} }`,
)}`;
const UNKNOWN_FIELDS = `{ ${numbered(900, (at) => `vieweer${at}`)} }`;
const MANY_VARIABLES = `query(${numbered(180, (at) => `$v${at}: Int`)}) { __typename }`;
const FRAGMENTS = numbered(100, (at) => `fragment F${at} on Query { __typename }`);
const WIDE_FRAGMENTS = `{ ${numbered(100, (at) => `...F${at}`)} } ${FRAGMENTS}`;
const INTROSPECTION =
  '{ __schema { types { name fields { name args { name type { name } } type { name ofType { name } } } } } }';

const HEAVY_PAGE = `nodes { id title status bidCount homeowner { id user { firstName } }
    availableActions { action allowed reason missingFields } }`;
const HEAVIEST = `query { jobs(first: 100) { totalCount ${HEAVY_PAGE} } }`;
const HEAVY = `query { jobs(first: 20) { totalCount ${HEAVY_PAGE} } }`;
const EVERYTHING = `query { jobs(first: 20, filter: { status: OPEN }) { nodes { id title description
  bids(first: 20) { totalCount nodes { id amount message contractor { id companyName } } }
  timeline(first: 20) { totalCount nodes { id type data } } myBid { id hold { id } } } } }`;
const LONG_PAGE = 'jobs(first: 100) { totalCount nodes { id title description requirements } }';
const FIFTEEN = `query { ${aliased(15, LONG_PAGE)} }`;

const persisted = (at: number) => {
  const query = `query Q${at} { __typename }`;
  const sha256Hash = createHash('sha256').update(query).digest('hex');
  return post('/graphql', {
    ...(at % 2 === 0 && { query }),
    extensions: { persistedQuery: { version: 1, sha256Hash } },
  });
};

const nest = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

export const DOCUMENTS: readonly Row[] = [
  {
    name: 'documents whose fields must be merged, each of them new',
    who: 'anonymous',
    attacks: () => [{ kind: 'calls', connections: 20, requests: [graphql(NEW + MERGED)] }],
  },
  {
    name: 'documents whose fragments must be merged, each of them new',
    who: 'anonymous',
    attacks: () => [{ kind: 'calls', connections: 100, requests: [graphql(NEW + MERGED_FRAGMENTS)] }],
  },
  {
    name: 'documents of unknown fields, each of them new',
    who: 'anonymous',
    attacks: () => [{ kind: 'calls', connections: 20, requests: [graphql(NEW + UNKNOWN_FIELDS)] }],
  },
  {
    name: 'documents of many variables and fragments, each of them new',
    who: 'anonymous',
    attacks: () => [
      { kind: 'calls', connections: 20, requests: [graphql(NEW + MANY_VARIABLES), graphql(NEW + WIDE_FRAGMENTS)] },
    ],
  },
  {
    name: 'documents of 120 KB of comments and names',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'calls',
        connections: 20,
        requests: [
          graphql(`
            ${NEW}
            ${'#'.repeat(7)}
            ${' ,'.repeat(55_000)}
            {
              __typename
            }
          `),
          graphql(`${NEW}{ ${'a '.repeat(55_000)} }`),
          graphql(`${NEW}{ ${'b'.repeat(110_000)} }`),
        ],
      },
    ],
  },
  {
    name: 'introspection and operations by the thousand in one array, which are off',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'calls',
        connections: 30,
        requests: [
          graphql(NEW + INTROSPECTION),
          graphql(INTROSPECTION),
          post(
            '/graphql',
            Array.from({ length: 1_500 }, () => ({ query: '{ __typename }' })),
          ),
        ],
      },
    ],
  },
  {
    name: 'persisted queries, half of them unknown',
    who: 'anonymous',
    attacks: () => [
      { kind: 'calls', connections: 50, requests: Array.from({ length: 1_000 }, (_, at) => persisted(at)) },
    ],
  },
  {
    name: 'variables of a hundred kilobytes: long lists, long names, deep JSON',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'calls',
        connections: 20,
        requests: [
          graphql('query($f: JobFilter) { jobs(filter: $f) { totalCount } }', { f: { search: 's'.repeat(100_000) } }),
          graphql('query($f: JobFilter) { jobs(filter: $f) { totalCount } }', {
            f: Array.from({ length: 12_000 }, () => ({})),
          }),
          graphql('query($f: JobFilter) { jobs(filter: $f) { totalCount } }', { f: nest(3_000) }),
          graphql('query($ids: [ID!]!) { node(id: $ids) { id } }', { ids: Array.from({ length: 20_000 }, () => 'x') }),
        ],
      },
    ],
  },
  {
    name: 'the dearest list that may be asked for, on fifty connections',
    who: 'one account',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 50,
        tokens: [people.contractor().token],
        requests: [graphql(HEAVIEST), graphql(HEAVY), graphql(EVERYTHING)],
      },
    ],
  },
  {
    name: 'the dearest list that may be asked for, all at once',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 600,
        tokens: people.crowd,
        requests: [graphql(HEAVIEST), graphql(HEAVY), graphql(EVERYTHING)],
      },
    ],
  },
  {
    name: 'fifteen lists of long texts under as many names',
    who: '600 accounts',
    attacks: ({ people }) => [{ kind: 'calls', connections: 100, tokens: people.crowd, requests: [graphql(FIFTEEN)] }],
  },
  {
    name: 'heavy lists in documents that are each new',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'calls',
        connections: 200,
        tokens: people.crowd,
        requests: [graphql(NEW + HEAVY), graphql(NEW + EVERYTHING)],
      },
    ],
  },
];
