/**
 * GraphQL requests: documents that match the schema, documents that nearly match, documents at and over the limits, and
 * bodies that aren't GraphQL.
 */
import { getIntrospectionQuery } from 'graphql';
import { createHash } from 'node:crypto';
import { GRAPHQL_LIMITS } from '../../../../src/platform/caller-limits.js';
import {
  ADDRESS_BREAKAGES,
  damaged,
  ENVELOPE_BREAKAGES,
  spoiled,
  VALUE_BREAKAGES,
  type Workshop,
} from './breakages.js';
import type { Dice } from '../../../setup/random/dice.js';
import { ALL_FIELDS, validDocument, type Written } from '../documents/documents.js';
import { baseHeaders, finished, type Draft } from './draft.js';
import { isFields, jsonText, Verbatim } from './json-text.js';
import type { Request } from './requests.js';

interface Body {
  query?: unknown;
  variables?: unknown;
  operationName?: unknown;
  extensions?: unknown;
  documentId?: unknown;
}

export function graphqlRequest(workshop: Workshop): Request {
  const { dice, stock } = workshop;
  const written = validDocument(stock, dice);
  const make = dice.weighted<() => Draft>([
    [45, () => sent(written, dice)],
    [12, () => misspelt(written, workshop)],
    [8, () => withOddVariables(written, workshop)],
    [8, () => misnamed(written, workshop)],
    [10, () => atALimit(workshop)],
    [5, () => withExtensions(written, workshop)],
    [3, () => introspecting(workshop)],
    [
      9,
      () => spoiled(sent(written, dice), [...VALUE_BREAKAGES, ...ENVELOPE_BREAKAGES, ...ADDRESS_BREAKAGES], workshop),
    ],
  ]);
  return finished(make());
}

function sent({ text, variables, operationName, selected, token, isMutation }: Written, dice: Dice): Draft {
  const body: Body = {
    query: text,
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(operationName && { operationName }),
  };
  const draft = { ...asked('graphql valid', body, token), selected };
  return !isMutation && dice.percent(20) ? byGet(draft, body) : draft;
}

function asked(kind: string, body: Body, token: string | undefined): Draft {
  return { kind, method: 'POST', path: '/graphql', query: [], headers: baseHeaders(token, true), json: body };
}

/** Values that aren't strings are written as JSON. A browser's form couldn't send the header. */
function byGet(draft: Draft, body: Body): Draft {
  const query = Object.entries(body).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : jsonText(value),
  ]);
  return {
    ...draft,
    method: 'GET',
    json: undefined,
    query,
    headers: [...draft.headers.filter(([name]) => name !== 'Content-Type'), ['Apollo-Require-Preflight', 'true']],
  };
}

/** Drops, flips, or repeats some characters. */
function misspelt(written: Written, { dice }: Workshop): Draft {
  const text = damaged(Buffer.from(written.text), dice).toString();
  const cut = dice.percent(25) ? text.slice(0, dice.int(0, text.length)) : text;
  const body = { query: cut, variables: written.variables };
  const draft = asked('graphql broken syntax', body, written.token);
  return dice.percent(10) ? byGet(draft, body) : draft;
}

function withOddVariables(written: Written, { dice, odd }: Workshop): Draft {
  const odds = () => new Verbatim(odd.json(dice));
  const names = Object.keys(written.variables);
  const variables = dice.pick<() => unknown>([
    odds,
    () => ({ ...written.variables, [dice.pick([...names, 'v0'])]: odds() }),
    () =>
      Object.fromEntries(
        Object.entries(written.variables).map(([name, value]) => [
          name,
          isFields(value) ? { ...value, [dice.pick([...Object.keys(value), odd.name(dice)])]: odds() } : value,
        ]),
      ),
    () => Object.fromEntries(dice.some(Object.entries(written.variables), 50)),
    () => ({ ...written.variables, [odd.name(dice)]: odds() }),
  ])();
  const body = { query: written.text, variables };
  const draft = asked('graphql odd variables', body, written.token);
  return dice.percent(10) ? byGet(draft, body) : draft;
}

/** The syntax is valid, but a name doesn't exist or doesn't fit. */
function misnamed(written: Written, { dice, odd }: Workshop): Draft {
  const words = [...written.text.matchAll(/\w+/g)];
  const word = dice.pick(words);
  const other = dice.pick([
    () => dice.pick(ALL_FIELDS).split('.')[1] ?? '',
    () => 'jobz',
    () => '__proto__',
    () => 'constructor',
    () => '__typename',
    () => '__schema',
    () => 'id { id }',
    () => `${word[0]}(first: -1)`,
    () => `${word[0]}(first: 1e999)`,
    () => `${word[0]}(id: ${literalText(odd.text(dice))})`,
    () => `${word[0]}: id`,
    () => `${word[0]} @skip`,
    () => `${word[0]} @nonsense(if: true)`,
    () => '...Nowhere',
    () => 'Int!',
    () => '1e999',
    () => '99999999999999999999',
    () => 'null',
    () => `"""${odd.text(dice).replaceAll('"', '')}"""`,
    () => '{a: {b: {c: 1}}}',
    () => '[[[1]]]',
    () => '$v9',
  ])();
  return asked(
    'graphql unknown names',
    {
      query: written.text.slice(0, word.index) + other + written.text.slice(word.index + word[0].length),
      variables: written.variables,
    },
    written.token,
  );
}

function literalText(text: string): string {
  return JSON.stringify(text);
}

function near(dice: Dice, limit: number): number {
  return Math.max(1, limit + dice.pick([-1, 0, 1, 2]));
}

const times = (count: number, one: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => one(at)).join(' ');

/** Just within a limit, just over it, or many times over it. */
function atALimit({ dice, stock }: Workshop): Draft {
  const { id } = stock.any(dice);
  const text = dice.pick<() => string>([
    () => `{ ${times(near(dice, GRAPHQL_LIMITS.aliases), (at) => `a${at}: __typename`)} }`,
    () => `{ ${times(near(dice, GRAPHQL_LIMITS.selections), () => 'a')} }`,
    () => `{ ${times(near(dice, GRAPHQL_LIMITS.selections), () => '__typename')} }`,
    () => `{ ${times(near(dice, GRAPHQL_LIMITS.tokens), () => '__typename')} }`.slice(0, 120_000),
    () => `{ job(id: "${id}") { ${nested(near(dice, GRAPHQL_LIMITS.depth) - 2)} } }`,
    () => `{ job(id: "${id}") { ${nested(dice.int(20, 60))} } }`,
    () => `{ __typename ${'@include(if: true) '.repeat(near(dice, GRAPHQL_LIMITS.directives))} }`,
    () =>
      `mutation { ${times(
        near(dice, GRAPHQL_LIMITS.rootMutations),
        (at) => `m${at}: viewBid(id: "bid_${at}") { bid { id } }`,
      )} }`,
    () =>
      `mutation { ${times(
        near(dice, GRAPHQL_LIMITS.entries),
        (at) => `m${at}: logIn(input: { email: "a@b.cc", password: "${at}" }) { token }`,
      )} }`,
    () => `{ jobs(first: ${dice.int(1, 100)}) { nodes { id bids(first: ${dice.int(1, 100)}) { nodes { id } } } } }`,
    () =>
      `{ jobs(first: ${dice.pick([0, -1, 100, 101, 2147483647])}) { nodes { availableActions { action } } ` +
      `totalCount } }`,
    () =>
      `{ ...F0 } ${times(16, (at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`)} fragment F16 on ` +
      `Query { __typename }`,
    () => `{ ...F0 } fragment F0 on Query { ...F1 } fragment F1 on Query { ...F0 }`,
    () =>
      `query A { __typename } query B { __typename } ${times(dice.int(0, 50), (at) => `query Q${at} { __typename }`)}`,
    () => `query(${times(dice.int(1, 200), (at) => `$v${at}: Int`)}) { __typename }`,
    () => `{ jobs(filter: { search: ${literalText('x'.repeat(dice.pick([200, 201, 5_000])))} }) { totalCount } }`,
    () => `{ a(b: ${'['.repeat(dice.pick([10, 100, 400]))}`,
    () => `{ a(b: ${'['.repeat(300)}${']'.repeat(300)}) }`,
    () => `{ a(b: ${'{c: '.repeat(150)}1${'}'.repeat(150)}) }`,
    () => '{'.repeat(dice.int(1, 990)),
    () => '#'.repeat(dice.int(1, 100_000)),
    () => `{ __typename } subscription { jobs { id } }`,
    () => 'subscription { __typename }',
    () => '{ viewer { user { id } ... @defer { referralCode } } }',
    () => 'type Query { a: Int } extend schema { query: Query }',
    () => `{ jobs { nodes { same: id same: title } } }`,
  ])();
  const operationName = dice.percent(20) ? dice.pick(['A', 'Z', '', '__proto__']) : undefined;
  return asked(
    'graphql at a limit',
    { query: text, ...(operationName !== undefined && { operationName }) },
    stock.token(dice.pick(['owner', 'admin', 'awardee'])),
  );
}

/** A job's bids have a job, which has bids: nested as deep as needed. */
function nested(levels: number): string {
  if (levels <= 1) return 'id';
  return levels === 2 ? 'homeowner { id }' : `awardedBid { job { ${nested(levels - 2)} } }`;
}

function withExtensions(written: Written, { dice, odd, stock }: Workshop): Draft {
  const hash = createHash('sha256').update(written.text).digest('hex');
  const odds = () => new Verbatim(odd.json(dice));
  const body = dice.pick<() => Body>([
    () => ({ query: written.text, extensions: { persistedQuery: { version: 1, sha256Hash: hash } } }),
    () => ({ extensions: { persistedQuery: { version: 1, sha256Hash: hash } } }),
    () => ({ query: written.text, extensions: { persistedQuery: { version: odds(), sha256Hash: odds() } } }),
    () => ({ query: written.text, extensions: odds() }),
    () => ({ documentId: `sha256:${hash}` }),
    () => ({ documentId: odds(), query: written.text }),
    () => ({ query: odds() }),
    () => ({ query: written.text, operationName: odds() }),
    () => ({ query: written.text, operationName: odd.text(dice) }),
    () => ({}),
  ])();
  // Without its variables, it is rejected, unless it had none.
  const draft = asked('graphql odd extensions', body, stock.token('other'));
  return dice.percent(20) ? byGet(draft, body) : draft;
}

function introspecting({ dice, odd, stock }: Workshop): Draft {
  const query = dice.pick([
    () => getIntrospectionQuery(),
    () => `{ __type(name: ${literalText(odd.text(dice))}) { name fields { name } } }`,
    () => '{ __type(name: "Job") { fields { type { ofType { ofType { ofType { name } } } } } } }',
    () =>
      `{ __schema { types { fields { type ` +
      `{ ${'fields { type { '.repeat(dice.int(1, 10))} name ${'} }'.repeat(10)} } } } }`,
  ])();
  return asked('graphql introspection', { query }, dice.percent(50) ? undefined : stock.token('stranger'));
}
