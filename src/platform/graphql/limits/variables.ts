/**
 * Rejects variables whose values don't match the document's types, without quoting them. graphql-js prints the whole
 * value into every error, which takes seconds for 4,000 unknown names. graphql-js still reports missing variables.
 */
import {
  coerceInputValue,
  getNamedType,
  getNullableType,
  GraphQLError,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  typeFromAST,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { mustBe, mustBeOneOf, NO_FIELD, REQUIRED } from '../../call/validation.js';
import { cut } from '../../errors.js';
import { ERRORS } from '../../caller-limits.js';
import { aboutVariable } from '../errors.js';

/** Leaves room for one error about the rest. */
const REPORTED_MAX = ERRORS.perAnswerMax - 1;

/** Stops checking a value once no more of its errors would be reported. */
class TooManyErrors extends Error {}

export interface VariableSettings {
  readonly suggestions: boolean;
}

export function wrongVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
  { suggestions }: VariableSettings,
): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const allFields = new Map<string, string>();
  try {
    for (const definition of variableDefinitions) check(definition);
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    errors.push(variableError(`There are more errors in the variables. These are the first ${REPORTED_MAX}.`));
  }
  // Each refusal names every bad field, because many clients read only the first error.
  const [first] = errors;
  if (first) first.extensions.fields = Object.fromEntries(allFields);
  return errors;

  function check(definition: VariableDefinitionNode): void {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    if (!Object.hasOwn(values, name) || values[name] === null || !isInputType(type)) return;
    const onError: Parameters<typeof coerceInputValue>[2] = (path, value, { message }) => {
      if (errors.length === REPORTED_MAX) throw new TooManyErrors();
      const [below, problem] = value == null ? [[], REQUIRED] : problemOf(typeAt(type, path), message, suggestions);
      const place = [...path, ...below].join('.') || name;
      const field = [cut(place, ERRORS.nameCharactersMax), problem] as const;
      allFields.set(...field);
      const fields = Object.fromEntries([field]);
      errors.push(variableError(aboutVariable(name, path, message), { nodes: definition, fields }));
    };
    coerceInputValue(values[name], type, onError, !suggestions);
  }
}

/** The type at this path. Clients may send a list's only entry without the list. */
function typeAt(type: GraphQLInputType, path: readonly (string | number)[]): GraphQLInputType {
  return path.reduce<GraphQLInputType>((whole, step) => {
    const nullable = getNullableType(whole);
    const entry = isListType(nullable) ? nullable.ofType : nullable;
    if (typeof step === 'number') return entry;
    const object = getNamedType(entry);
    return (isInputObjectType(object) && object.getFields()[step]?.type) || entry;
  }, type);
}

/** Describes the problem in the operations' own words. `below` is the field that GraphQL names in the object. */
function problemOf(
  type: GraphQLInputType,
  message: string,
  suggestions: boolean,
): readonly [below: readonly string[], problem: string] {
  const namedType = getNamedType(type);
  if (isEnumType(namedType)) {
    const values = namedType.getValues().map(({ name }) => name);
    return [[], suggestions ? mustBeOneOf(values) : 'isn’t one of the allowed values'];
  }
  if (!isInputObjectType(namedType))
    return [[], message.includes(TOO_LARGE) ? 'must be a 32-bit integer' : mustBe(KINDS[namedType.name] ?? 'string')];
  const missing = /^Field "(\w+)" of required type /.exec(message)?.[1];
  if (missing !== undefined) return [[missing], REQUIRED];
  const unknown = /^Field "(.*)" is not defined by type "/s.exec(message)?.[1];
  return unknown === undefined ? [[], mustBe('object')] : [[unknown], NO_FIELD];
}

const TOO_LARGE = 'non 32-bit signed integer';

/** The JSON types of scalars. All others are sent as strings. */
const KINDS: Readonly<Record<string, string>> = { Int: 'int', Float: 'number', Boolean: 'boolean' };

interface ErrorDetails {
  readonly nodes: VariableDefinitionNode;
  readonly fields: Readonly<Record<string, string>>;
}

function variableError(message: string, { nodes, fields }: Partial<ErrorDetails> = {}): GraphQLError {
  const extensions = { code: 'BAD_USER_INPUT', fields, http: { status: 400 } };
  return new GraphQLError(message, { nodes, extensions });
}
