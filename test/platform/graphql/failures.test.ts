/** Of three thousand failing fields, a response quickly names fifty and counts the rest. Both executors do the same. */
import {
  buildSchema,
  execute,
  parse,
  type GraphQLError,
  type GraphQLObjectType,
  type OperationDefinitionNode,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/graphql/context.js';
import { formatError } from '../../../src/platform/graphql/errors.js';
import { limitErrors, Failures, locateFailures } from '../../../src/platform/graphql/failures.js';
import { createExecutor } from '../../../src/platform/graphql/executor/executor.js';
import { createLog } from '../../../src/platform/telemetry/log.js';
import { refuse } from '../../../src/market/rules/errors.js';
import { cut } from '../../../src/platform/errors.js';

const schema = buildSchema(
  'type Query { items: [Item] } type Item { soon: String now: String must: String! nothing: String! nobody: String! }',
);
const failing = {
  now: () => {
    throw refuse('FORBIDDEN');
  },
  soon: () => Promise.reject(refuse('FORBIDDEN')),
  must: () => {
    throw refuse('FORBIDDEN');
  },
};
for (const [name, resolve] of Object.entries(failing)) {
  const field = (schema.getType('Item') as GraphQLObjectType).getFields()[name];
  if (field) field.resolve = locateFailures(resolve);
}
const nothing = async () => null;
for (const name of ['nothing', 'nobody']) {
  const field = (schema.getType('Item') as GraphQLObjectType).getFields()[name];
  if (field) field.resolve = nothing;
}
let items = Array.from({ length: 3_000 }, () => ({}));
const query = (schema.getQueryType() as GraphQLObjectType).getFields().items;
if (query) query.resolve = () => items;

// Three hundred selections of one field, each on a line far down.
const document = (field: string) => parse(`{ items { ${`${field}\n\n\n\n\n\n`.repeat(300)} } }`);
const context = () => ({ failures: new Failures() }) as Context;
const format = formatError(createLog('silent'));

const EXECUTORS: Readonly<
  Record<string, (field: string) => Promise<{ errors?: readonly GraphQLError[] | undefined }>>
> = {
  'graphql-js': async (field) => execute({ schema, document: document(field), contextValue: context() }),
  'our executor': (field) => {
    const parsed = document(field);
    return createExecutor(schema)({
      document: parsed,
      operation: parsed.definitions[0] as OperationDefinitionNode,
      operationName: undefined,
      variables: undefined,
      context: context(),
    });
  },
};

describe.each(Object.keys(EXECUTORS))('by %s', (executor) => {
  it.each(Object.keys(failing))('%s', async (field) => {
    const { errors = [] } = (await EXECUTORS[executor]?.(field)) ?? {};
    const sent = limitErrors(errors.map((error) => format(error.toJSON(), error)));
    expect([sent.errors.length, sent.leftOut]).toEqual([50, 2_950]);
    expect(sent.errors[49]).toMatchObject({
      path: field === 'must' ? ['items', 49, 'must'] : ['items', 49, field],
      extensions: { code: 'FORBIDDEN' },
    });
    // Locating all of them would take minutes.
    for (const { locations } of sent.errors) expect(locations?.length).toBeLessThanOrEqual(5);
  });
});

it.each(Object.keys(EXECUTORS))("with %s, a failure next to an earlier one isn't counted twice", async (executor) => {
  const all = items;
  items = all.slice(0, 40);
  const { errors = [] } = (await EXECUTORS[executor]?.('nothing nobody')) ?? {};
  items = all;
  const sent = limitErrors(errors.map((error) => format(error.toJSON(), error)));
  expect([sent.errors.length, sent.leftOut]).toEqual([40, 0]);
});

it('cuts text without splitting a character', () => {
  expect([cut('a'.repeat(500)), cut('a'.repeat(501))]).toEqual(['a'.repeat(500), `${'a'.repeat(497)}...`]);
  expect(cut('\u{1F600}'.repeat(10), 10).isWellFormed()).toBe(true);
});
