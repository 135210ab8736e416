/** Documents that ask for too much, and their building blocks. */
import type { GRAPHQL_LIMITS } from '../../../../src/platform/caller-limits.js';

export type Limit = keyof typeof GRAPHQL_LIMITS;
export type Besides = { variables?: object; operationName?: string };

export const times = (count: number, part: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => part(i)).join(' ');
export const nested = (levels: number, field: (i: number) => string, core: string) =>
  `${times(levels, (i) => `${field(i)} {`)} ${core} ${'}'.repeat(levels)}`;

export const LOG_IN = (i: number, directive = '') =>
  `a${i}: logIn(input: { email: "hanna@example.test", password: "guess ${i}" }) ${directive} { token }`;
const SIGN_UP =
  'b: signUpHomeowner(input: { email: "new@example.test", password: "a password", firstName: "N", lastName: "N" ' +
  '}) { token }';
export const LOG_OUT = (name: string) => `${name}: logOut { sessionId }`;
/** Alternates between guesses at a password, guesses at a refresh token, and logouts. */
export const GUESS = (i: number) =>
  [
    `a${i}: changePassword(input: { currentPassword: "guess ${i}", newPassword: "a new password" }) { changed }`,
    `a${i}: refreshSession(input: { refreshToken: "rft_${i}" }) { token }`,
    LOG_OUT(`a${i}`),
  ][i % 3] ?? '';
/** Each level doubles the one below it. */
export const BOMB = (levels: number) =>
  `{ ...F0 } ${times(levels, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F${levels} ` +
  `on Query { __typename }`;
/** Costs 1 at every third level. */
export const ROUND_AND_ROUND = (i: number) =>
  i === 0 ? 'job(id: "job_x")' : (['job', 'bids(first: 1)', 'nodes'][i % 3] ?? '');
export const OF_TYPE = (i: number) => ['__schema', 'queryType'][i] ?? 'ofType';

export const PLAIN_FIELDS_OF_JOB = `__typename id title description status category budgetMin budgetMax urgency
  addressLine1 addressLine2 city state zipCode country
  latitude longitude desiredStartDate desiredCompletionDate requirements homeownerId awardedBidId version bidCount
    createdAt updatedAt`;
/** Thirty-one jobs in one tree, with no field selected twice: 898 selections. */
export const TREE_OF_JOBS = 'job(id: "job_x") { ...J0 }';
export const FRAGMENTS_OF_TREE = times(
  5,
  (i) =>
    `fragment J${i} on Job { ${PLAIN_FIELDS_OF_JOB} ${
      i < 4 ? `awardedBid { job { ...J${i + 1} } } myBid { job { ...J${i + 1} } }` : ''
    } }`,
);

/**
 * The attacks in graphql-cop, CrackQL, and the OWASP cheat sheet, with the limits that stop them. The list is empty if
 * GraphQL's own rules reject the document first.
 */
export const ATTACKS: [name: string, query: string, limits: Limit[], besides?: Besides][] = [
  [
    'twenty guesses at a password',
    `mutation { ${times(20, (i) => LOG_IN(i))} }`,
    ['aliases', 'rootMutations', 'entries'],
  ],
  [
    'a login and a sign-up, dressed in fragments',
    `mutation { ...A ... { ...B } } fragment A on Mutation { ${LOG_IN(0)} } fragment B on Mutation { ... on ` +
      `Mutation { ${SIGN_UP} } }`,
    ['entries'],
  ],
  [
    'two logins of which a variable skips one',
    `mutation ($no: Boolean!) { ${LOG_IN(0)} ${LOG_IN(1, '@skip(if: $no)')} }`,
    ['entries'],
    { variables: { no: true } },
  ],
  [
    'logins behind the name of a harmless operation',
    `query Harmless { __typename } mutation Guess { ${times(3, (i) => LOG_IN(i))} }`,
    ['entries'],
    { operationName: 'Harmless' },
  ],
  [
    'logins under a name that no operation bears',
    `mutation Guess { ${times(3, (i) => LOG_IN(i))} }`,
    [],
    { operationName: 'constructor' },
  ],
  [
    'aliases in a fragment that is used again and again',
    `{ ${times(6, () => '...A')} } fragment A on Query { a: __typename b: __typename c: __typename }`,
    ['aliases'],
  ],
  [
    'mutations in fragments',
    `mutation { ${times(3, (i) => `...M${i}`)} } ${times(
      3,
      (i) => `fragment M${i} on Mutation { ${LOG_OUT(`m${i}`)} ${LOG_OUT(`n${i}`)} }`,
    )}`,
    ['rootMutations'],
  ],
  ['a directive five hundred times', `{ __typename ${times(490, () => '@skip')} }`, []],
  [
    'directives on variables and on fragments',
    `query ($a: Boolean ${times(6, (i) => `@a${i}`)}) { ...F ${times(6, (i) => `@b${i}`)} } fragment F on Query { ` +
      `__typename }`,
    [],
  ],
  ['the same objects written out again and again', `{ ${times(400, () => 'viewer { user { id } }')} }`, ['tokens']],
  ['a query as large as a body may be', `{ ${'__typename '.repeat(11_000)} }`, ['tokens']],
  [
    'a value nested ten thousand deep',
    `{ contractor(id: ${'['.repeat(10_000)}${']'.repeat(10_000)}) { id } }`,
    ['tokens'],
  ],
  ['a bomb of 2^16 fragments', BOMB(16), ['selections']],
  ['a bomb of 2^80 fragments', BOMB(80), ['selections']],
  ['fragments in a circle', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }', []],
  [
    'ninety fragments in circles',
    `{ ...C0 } ${times(90, (i) => `fragment C${i} on Query { ...C${(i + 1) % 90} ...C${(i + 7) % 90} }`)}`,
    ['selections'],
  ],
  [
    'circles in objects',
    `{ job(id: "job_x") { ...C0 } } ${times(
      45,
      (i) => `fragment C${i} on Job { awardedBid { job { ...C${(i + 1) % 45} ...C${(i + 2) % 45} } } }`,
    )}`,
    [],
  ],
  [
    'circles that no operation leads into',
    `{ __typename } ${times(
      45,
      (i) => `fragment C${i} on Job { awardedBid { job { ...C${(i + 1) % 45} ...C${(i + 2) % 45} } } }`,
    )}`,
    [],
  ],
  ['a bomb that no operation sets off', BOMB(60).replace('{ ...F0 }', '{ __typename }'), []],
  ['one field five hundred times', `{ ${times(500, () => '__typename')} }`, ['repeats']],
  ['objects to merge with objects', `{ ${times(140, () => 'viewer { user { id } }')} }`, ['repeats']],
  [
    'arguments to compare with arguments',
    `{ ${times(60, () => 'jobs(filter: { status: OPEN, search: "a" }) { totalCount }')} }`,
    ['repeats'],
  ],
  ['long arguments to compare', `{ ${times(60, (i) => `contractor(id: "${'x'.repeat(1_500)}${i}") { id }`)} }`, []],
  [
    'conflicts in conflicts, over many lines',
    `{ ${times(
      20,
      (i) =>
        `viewer ` +
        `{ ${times(14, (j) => `${'abcdefghijklmn'[j]}: ${i % 2 ? 'referralCode' : 'tokens'}${'\n'.repeat(150)}`)} }`,
    )} }`,
    ['lines'],
  ],
  ['a name as long as a document', `{ ${'x'.repeat(100_000)} }`, []],
  [
    'answers under a name as long as a document',
    `{ jobs(first: 100) { nodes { ${'x'.repeat(100_000)}: id } } }`,
    ['nameCharacters'],
  ],
  [
    'the schema fifteen times over',
    `{ ${times(15, (i) => `a${i}: __schema { types { name fields { name description } } }`)} }`,
    ['introspectionAliases'],
  ],
  [
    'nodes of one page under fifteen names',
    `{ jobs(first: 100) { nodes { bids(first: 20) { ${times(15, (i) => `a${i}: nodes { id }`)} } } } }`,
    ['cost'],
  ],
  [
    'long texts of many jobs under many names',
    `{ jobs(first: 100) { nodes { ${times(15, (i) => `a${i}: description`)} } } }`,
    ['cost'],
  ],
  [
    'a fragment in a circle with itself, twice over',
    '{ ...A ...A } fragment A on Query { viewer { referralCode } ...A ...A }',
    [],
  ],
  [
    'depth in fragments',
    `{ job(id: "job_x") { ...F0 } } ${times(
      6,
      (i) => `fragment F${i} on Job { bids(first: 1) { nodes { job { ...F${i + 1} } } } }`,
    )} fragment F6 on Job { id }`,
    ['depth'],
  ],
  [
    'a type of a type, in fragments',
    `{ __schema { queryType { ...A } } } fragment A on __Type ` +
      `{ ${nested(6, () => 'ofType', '...B')} } fragment B on __Type { ${nested(9, () => 'ofType', 'name')} }`,
    ['introspectionDepth'],
  ],
  [
    'fields of types of fields of types',
    `{ __schema { types { ${nested(8, (i) => ['fields', 'type'][i % 2] ?? '', 'name')} } } }`,
    [],
  ],
  [
    'lists within lists within lists',
    '{ jobs(first: 100) { nodes { bids(first: 100) { nodes { job { bids(first: 100) { nodes { id } } } } } } } }',
    ['cost'],
  ],
  [
    'a length that a variable blows up',
    'query ($n: Int) { jobs(first: 100) { nodes { bids(first: $n) { nodes { id } } } } }',
    ['cost'],
    { variables: { n: 2_000_000_000 } },
  ],
  [
    'a length that a variable’s default blows up',
    'query ($n: Int = 100) { jobs(first: $n) { nodes { timeline(first: $n) { nodes { id } } } } }',
    ['cost'],
  ],
  [
    'a length that is not a number',
    'query ($n: Int) { jobs(first: 100) { nodes { bids(first: $n) { nodes { id } } } } }',
    ['cost'],
    { variables: { n: { toString: 'x' } } },
  ],
  [
    'a mutation whose answer would cost too much',
    'mutation { createJob(input: { title: "A", description: "B" }) { job { bids(first: 100) { nodes { job { ' +
      'bids(first: 100) { nodes { message } } } } } } } }',
    ['cost'],
  ],
  ['pages whose nodes nobody selects', '{ jobs(first: 100) { nodes { bids(first: 100) { totalCount } } } }', ['cost']],
];

export const named = (count: number, name: (i: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), 1]));

export const UPDATE =
  'mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { viewer { user { id } } } }';

export const WRONG_VARIABLES: readonly (readonly [what: string, input: unknown, errors: number])[] = [
  ['a thousand unknown names', named(1_000, (i) => `name${i}`), 50],
  ['a thousand unknown names further in', { user: named(1_000, (i) => `name${i}`) }, 50],
  ['an object of a thousand names in place of a text', { user: { firstName: named(1_000, (i) => `name${i}`) } }, 1],
  [
    'fifty thousand wrong entries of a list',
    { contractor: { specialties: Array.from({ length: 50_000 }, () => 1) } },
    50,
  ],
  ['a name of 120,000 characters', { ['x'.repeat(120_000)]: 1 }, 1],
  ['a name full of what GraphQL’s own sentences are searched for', { ['String "'.repeat(12_000)]: 1 }, 1],
  ['forty-nine names of 2,000 characters', named(49, (i) => `${i}${'y'.repeat(2_000)}`), 49],
];

const repeated = (i: number) => times(20, () => `a${i}: bids(first: 0) { totalCount }\n\n`);
/** Fails in each of many nodes, far down in the document. */
export const FAILING_EVERYWHERE = `{${'\n'.repeat(1_500)} jobs(first: 100) { nodes { ${times(4, repeated)} } } }`;
