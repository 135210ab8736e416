/** Collects an object's selected fields, including those from fragments, in the same order as graphql-js. */
import {
  isAbstractType,
  Kind,
  valueFromASTUntyped,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Condition } from './selection.js';

export interface Occurrence {
  readonly node: FieldNode;
  /** The field is included if all of these are true. */
  readonly conditions: readonly Condition[];
}

export type Occurrences = [Occurrence, ...Occurrence[]];
export type SelectedFields = ReadonlyMap<string, Readonly<Occurrences>>;

export class FieldCollector {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>,
    private readonly operation: OperationDefinitionNode,
  ) {}

  collect(sets: readonly SelectionSetNode[], type: GraphQLObjectType): SelectedFields {
    const fields = new Map<string, Occurrences>();
    /** Maps each fragment to whether its spread has a condition. */
    const spreadFragments = new Map<string, boolean>();
    for (const set of sets) this.#gather(set, type, [], fields, spreadFragments);
    for (const occurrences of fields.values()) {
      // The variables decide which occurrence comes first and which ones count.
      if (occurrences.length > 1 && occurrences.some(({ conditions }) => conditions.length > 0)) throw new NotPlanned();
    }
    return fields;
  }

  #gather(
    { selections }: SelectionSetNode,
    type: GraphQLObjectType,
    parentConditions: readonly Condition[],
    fields: Map<string, Occurrences>,
    spreadFragments: Map<string, boolean>,
  ): void {
    for (const selection of selections) {
      const conditions = this.#conditionsOf(selection, parentConditions);
      if (conditions === 'never') continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const before = fields.get(key);
        if (before) before.push({ node: selection, conditions });
        else fields.set(key, [{ node: selection, conditions }]);
        continue;
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD && isSpreadAgain(selection.name.value, conditions, spreadFragments))
        continue;
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? this.fragments[selection.name.value] : selection;
      if (fragment && this.#appliesTo(fragment.typeCondition?.name.value, type))
        this.#gather(fragment.selectionSet, type, conditions, fields, spreadFragments);
    }
  }

  #conditionsOf(
    { directives = [] }: SelectionNode,
    parentConditions: readonly Condition[],
  ): readonly Condition[] | 'never' {
    const conditions = [...parentConditions];
    for (const { name, arguments: args = [] } of directives) {
      const isSkip = name.value === 'skip';
      const condition = args[0]?.value;
      if ((!isSkip && name.value !== 'include') || !condition) continue;
      if (condition.kind === Kind.VARIABLE) conditions.push(this.#conditionOn(condition.name.value, isSkip));
      else if (valueFromASTUntyped(condition) === isSkip) return 'never';
    }
    return conditions;
  }

  #conditionOn(variable: string, isSkip: boolean): Condition {
    const definition = this.operation.variableDefinitions?.find((one) => one.variable.name.value === variable);
    // If the variable may be null, graphql-js must report the error with its location.
    if (definition?.type.kind !== Kind.NON_NULL_TYPE) throw new NotPlanned();
    return (variables) => variables[variable] !== isSkip;
  }

  #appliesTo(name: string | undefined, type: GraphQLObjectType): boolean {
    if (name === undefined || name === type.name) return true;
    const condition = this.schema.getType(name);
    return isAbstractType(condition) && this.schema.isSubType(condition, type);
  }
}

/** Only a fragment's first spread counts. Throws if the variables decide which one that is. */
function isSpreadAgain(name: string, conditions: readonly Condition[], spreadFragments: Map<string, boolean>): boolean {
  const before = spreadFragments.get(name);
  const isConditional = conditions.length > 0;
  spreadFragments.set(name, isConditional);
  if (before === true || (before === false && isConditional)) throw new NotPlanned();
  return before === false;
}

/** Thrown if a plan's result could differ from graphql-js's. graphql-js then executes the operation. */
export class NotPlanned extends Error {}
