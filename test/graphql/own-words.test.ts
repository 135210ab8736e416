import { expect, it } from 'vitest';
import { withoutValues } from '../../src/graphql/own-words.js';

const TOLD: [message: string, reason: string | undefined, told: string][] = [
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

it.each(TOLD)('%s', (message, reason, told) => {
  expect(withoutValues(message, reason)).toBe(told);
});
