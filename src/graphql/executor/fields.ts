/**
 * Collects the fields that are selected of an object: those of all its selection sets and their fragments, each with
 * its name in the answer and its conditions, in the order of graphql-js.
 */
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
import { NotPlanned } from './not-planned.js';
import type { Condition } from './selection.js';

export interface Occurrence {
  readonly node: FieldNode;
  /** All of them must hold. */
  readonly conditions: readonly Condition[];
}

export type Occurrences = [Occurrence, ...Occurrence[]];
export type FieldsFound = ReadonlyMap<string, Readonly<Occurrences>>;

export class FieldCollector {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>,
    private readonly operation: OperationDefinitionNode,
  ) {}

  collect(sets: readonly SelectionSetNode[], type: GraphQLObjectType): FieldsFound {
    const found = new Map<string, Occurrences>();
    /** The fragments that were spread, and whether under a condition. */
    const spread = new Map<string, boolean>();
    for (const set of sets) this.#gather(set, type, [], found, spread);
    for (const occurrences of found.values()) {
      // The variables would decide which of them comes first, and which count.
      if (occurrences.length > 1 && occurrences.some(({ conditions }) => conditions.length > 0)) throw new NotPlanned();
    }
    return found;
  }

  #gather(
    { selections }: SelectionSetNode,
    type: GraphQLObjectType,
    inherited: readonly Condition[],
    found: Map<string, Occurrences>,
    spread: Map<string, boolean>,
  ): void {
    for (const selection of selections) {
      const conditions = this.#conditionsOf(selection, inherited);
      if (conditions === 'never') continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const before = found.get(key);
        if (before) before.push({ node: selection, conditions });
        else found.set(key, [{ node: selection, conditions }]);
        continue;
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD && isSpreadAgain(selection.name.value, conditions, spread)) continue;
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? this.fragments[selection.name.value] : selection;
      if (fragment && this.#appliesTo(fragment.typeCondition?.name.value, type))
        this.#gather(fragment.selectionSet, type, conditions, found, spread);
    }
  }

  #conditionsOf({ directives = [] }: SelectionNode, inherited: readonly Condition[]): readonly Condition[] | 'never' {
    const conditions = [...inherited];
    for (const { name, arguments: given = [] } of directives) {
      const isSkip = name.value === 'skip';
      const condition = given[0]?.value;
      if ((!isSkip && name.value !== 'include') || !condition) continue;
      if (condition.kind === Kind.VARIABLE) conditions.push(this.#conditionOn(condition.name.value, isSkip));
      else if (valueFromASTUntyped(condition) === isSkip) return 'never';
    }
    return conditions;
  }

  #conditionOn(variable: string, isSkip: boolean): Condition {
    const definition = this.operation.variableDefinitions?.find((one) => one.variable.name.value === variable);
    // Where it may be null, graphql-js reports an error with its location in the document.
    if (definition?.type.kind !== Kind.NON_NULL_TYPE) throw new NotPlanned();
    return (variables) => variables[variable] !== isSkip;
  }

  #appliesTo(name: string | undefined, type: GraphQLObjectType): boolean {
    if (name === undefined || name === type.name) return true;
    const condition = this.schema.getType(name);
    return isAbstractType(condition) && this.schema.isSubType(condition, type);
  }
}

/** Only the first spread of a fragment counts; spread under two conditions, it would count under either. */
function isSpreadAgain(name: string, conditions: readonly Condition[], spread: Map<string, boolean>): boolean {
  const before = spread.get(name);
  const isConditional = conditions.length > 0;
  spread.set(name, isConditional);
  if (before === true || (before === false && isConditional)) throw new NotPlanned();
  return before === false;
}
