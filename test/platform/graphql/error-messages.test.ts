import { buildSchema, parse, type OperationDefinitionNode } from 'graphql';
import { expect, it } from 'vitest';
import { formatError, withoutValues } from '../../../src/platform/graphql/errors.js';
import { wrongVariables } from '../../../src/platform/graphql/limits/variables.js';
import { createLog } from '../../../src/platform/telemetry/log.js';

const REPLACED: [message: string, reason: string | undefined, replaced: string][] = [
  [
    'Variable "$input" got invalid value { email: "a", password: "s3cret" }; Field "firstName" of required type ' +
      '"String!" was not provided.',
    'Field "firstName" of required type "String!" was not provided.',
    'Variable "$input" is not valid: Field "firstName" of required type "String!" was not provided.',
  ],
  [
    'Variable "$input" got invalid value ["s3cret"] at "input.user.password"; String cannot represent a non ' +
      'string value: ["s3cret"]',
    'String cannot represent a non string value: ["s3cret"]',
    'Variable "$input" is not valid at input.user.password: String cannot represent a non string value.',
  ],
  [
    'Variable "$input" got invalid value "s3cret at \\"input.x\\"; Field"; Expected type "LogInInput" to be an object.',
    'Expected type "LogInInput" to be an object.',
    'Variable "$input" is not valid: Expected type "LogInInput" to be an object.',
  ],
  ['Variable "$input" got invalid value "s3cret"; Whatever comes', undefined, 'Variable "$input" is not valid.'],
  [
    'Variable "$input" of required type "LogInInput!" was not provided.',
    undefined,
    'Variable "$input" of required type "LogInInput!" was not provided.',
  ],
  ['String cannot represent a non string value: s3cret', undefined, 'String cannot represent a non string value.'],
  [
    'Int cannot represent non 32-bit signed integer value: 5555555555',
    undefined,
    'Int cannot represent non 32-bit signed integer value.',
  ],
  ['Expected value of type "LogInInput!", found "s3cret".', undefined, 'Expected value of type "LogInInput!".'],
  ['Expected value of type "Date", found ["s3cret"]; it is s3cret', undefined, 'Expected value of type "Date".'],
  ['Argument "first" has invalid value s3cret.', undefined, 'Argument "first" has invalid value.'],
  ['Syntax Error: Expected Name, found String "s3cret\n".', undefined, 'Syntax Error: Expected Name, found String.'],
  ['Syntax Error: Unexpected BlockString "s3cret".', undefined, 'Syntax Error: Unexpected BlockString.'],
  ['Syntax Error: Expected ":", found Name "nam".', undefined, 'Syntax Error: Expected ":", found Name "nam".'],
  [
    'Cannot query field "nam" on type "User". Did you mean "name"?',
    undefined,
    'Cannot query field "nam" on type "User". Did you mean "name"?',
  ],
  ['Maximum call stack size exceeded', undefined, 'The query is nested too deeply.'],
];

it.each(REPLACED)('%s', (message, reason, replaced) => {
  expect(withoutValues(message, reason)).toBe(replaced);
});

const SCHEMA = buildSchema(`
  type Query { bid(input: Bid!): Int }
  enum Colour { RED GREEN }
  scalar Day
  input Work { name: String! rooms: Int }
  input Bid { amount: Float! days: Int message: String sure: Boolean colour: Colour job: ID on: Day works: [Work!] }
`);
const DOCUMENT = parse('query ($i: Bid!, $n: Int) { bid(input: $i) }').definitions[0] as OperationDefinitionNode;

/** The fields that the errors name, one per error. */
function fieldsOf(sent: Record<string, unknown>, suggestions = true): unknown[] {
  const format = formatError(createLog('silent'));
  return wrongVariables(SCHEMA, DOCUMENT, sent, { suggestions }).map(
    (error) => format(error.toJSON(), error).extensions?.fields,
  );
}

const WRONG: [value: object, field: string, problem: string][] = [
  [{}, 'amount', 'is required'],
  [{ amount: null }, 'amount', 'is required'],
  [{ amount: 'much' }, 'amount', 'must be a number'],
  [{ amount: 1, days: 1.5 }, 'days', 'must be a whole number'],
  [{ amount: 1, days: 2 ** 31 }, 'days', 'must be a 32-bit integer'],
  [{ amount: 1, message: 1 }, 'message', 'must be a string'],
  [{ amount: 1, sure: 'yes' }, 'sure', 'must be true or false'],
  [{ amount: 1, colour: 'BLUE' }, 'colour', 'must be one of RED, GREEN'],
  [{ amount: 1, job: {} }, 'job', 'must be a string'],
  [{ amount: 1, works: [{ name: 'A' }, {}] }, 'works.1.name', 'is required'],
  [{ amount: 1, works: { name: 'A', rooms: 'B' } }, 'works.rooms', 'must be a whole number'],
  [{ amount: 1, works: ['A'] }, 'works.0', 'must be an object'],
  [
    { amount: 1, 'a " is not defined by type "b': 1 },
    'a " is not defined by type "b',
    'isn’t a field of this operation',
  ],
  [{ amount: 1, ['x'.repeat(200)]: 1 }, `${'x'.repeat(97)}...`, 'isn’t a field of this operation'],
];

it.each(WRONG)('names the field of the variable %j', (i, field, problem) => {
  expect(fieldsOf({ i })).toEqual([{ [field]: problem }]);
});

it("names a variable that isn't an object; each wrong field has an error, the first names all", () => {
  const [i, n, days] = ['must be an object', 'must be a whole number', 'must be a whole number'];
  expect(fieldsOf({ i: 1, n: 'A' })).toEqual([{ i, n }, { n }]);
  expect(fieldsOf({ i: { days: 'A' } })).toEqual([{ amount: 'is required', days }, { days }]);
});

it("doesn't name values that the schema would suggest if introspection is off", () => {
  expect(fieldsOf({ i: { amount: 1, colour: 'BLUE' } }, false)).toEqual([
    { colour: 'isn’t one of the allowed values' },
  ]);
});
