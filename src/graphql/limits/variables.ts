/**
 * Values of variables that are not what the document asks for, each refused without being quoted: graphql-js prints the
 * whole value into each of its errors, which for an input of 4,000 unknown names takes seconds. Variables that are
 * missing are left to it.
 */
import {
  coerceInputValue,
  GraphQLError,
  isInputType,
  typeFromAST,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { ERRORS } from '../../rules/limits.js';
import { aboutVariable } from '../own-words.js';

/** One error less than an answer may have, and then one that says that there are more. */
const NAMED_MAX = ERRORS.perAnswerMax - 1;

/** Ends the coercion of a value of which nothing more would be said. */
class Enough extends Error {}

export interface VariableSettings {
  readonly suggestions: boolean;
}

export function wrongVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
  { suggestions }: VariableSettings,
): GraphQLError[] {
  const errors: GraphQLError[] = [];
  try {
    for (const definition of variableDefinitions) check(definition);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
    errors.push(refused(`More is wrong with the variables; these are the first ${NAMED_MAX} errors.`));
  }
  return errors;

  function check(definition: VariableDefinitionNode): void {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    if (!Object.hasOwn(sent, name) || sent[name] === null || !isInputType(type)) return;
    const onError: Parameters<typeof coerceInputValue>[2] = (path, _value, { message }) => {
      if (errors.length === NAMED_MAX) throw new Enough();
      errors.push(refused(aboutVariable(name, path, message), definition));
    };
    coerceInputValue(sent[name], type, onError, !suggestions);
  }
}

function refused(message: string, node?: VariableDefinitionNode): GraphQLError {
  return new GraphQLError(message, { nodes: node, extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } } });
}
