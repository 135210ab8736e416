/**
 * What an operation costs: an object 1, a text 1 for each 1,000 characters that it may have, a list its length times
 * what each of its nodes costs, and short values nothing. Fractions add up, and the sum is rounded up.
 *
 * A connection's page is read whatever is selected of it, so it costs its length even where its nodes are not selected;
 * `edges` and `pageInfo` cost nothing. Selections that GraphQL merges under one name cost once.
 */
import {
  Kind,
  valueFromASTUntyped,
  type DirectiveNode,
  type FieldNode,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql';
import { PAGE, TEXT_CHARACTERS_PER_COST_POINT } from '../../rules/limits.js';

/** Costs are added up in characters, since sums of fractions are not exact. */
export const OBJECT_CHARACTERS = TEXT_CHARACTERS_PER_COST_POINT;

/** A field that costs something, or whose fields do. */
export interface FieldCost {
  /** How often its value is answered. */
  readonly times: number | PageLength;
  /** What a value costs by itself, and what it costs at least, with its fields. */
  readonly own: number;
  readonly least: number;
  readonly fields: readonly FieldCost[];
  /** For each of its selections the conditions under which that is answered. One of them is enough. */
  readonly selections: readonly (readonly Condition[])[];
}

/** The value of an argument as the document gives it, or the name of the variable that does. */
export type Input = { readonly variable: string } | { readonly constant: unknown };

/** The arguments that say how many entries a page has. */
export interface PageLength {
  readonly first: Input;
  readonly last: Input;
}

export interface Condition {
  readonly if: Input;
  /** The value that leaves the selection out: true for `@skip`, false for `@include`. */
  readonly unless: boolean;
  readonly directive: DirectiveNode;
}

type Variables = Readonly<Record<string, unknown>>;

/** The cost of an operation, by its variables. */
export function costOf(
  fields: readonly FieldCost[],
  { variableDefinitions = [] }: OperationDefinitionNode,
): (variables: Variables) => number {
  const presets: Variables = Object.fromEntries(
    variableDefinitions.map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue && valueFromASTUntyped(defaultValue),
    ]),
  );
  return (variables) => Math.ceil(charactersOf(fields, { ...presets, ...variables }) / OBJECT_CHARACTERS);
}

function charactersOf(fields: readonly FieldCost[], variables: Variables): number {
  let characters = 0;
  for (const { times, own, least, fields: inner, selections } of fields) {
    if (!selections.some((conditions) => conditions.every((condition) => isFulfilled(condition, variables)))) continue;
    const count = typeof times === 'number' ? times : entriesOf(times, variables);
    characters += count * Math.max(least, own + charactersOf(inner, variables));
  }
  return characters;
}

/** The conditions of `@skip` and `@include`. */
export function conditionsIn(directives: readonly DirectiveNode[] = []): Condition[] {
  return directives.flatMap((directive) => {
    const { name, arguments: [condition] = [] } = directive;
    const isCondition = name.value === 'skip' || name.value === 'include';
    return isCondition ? [{ if: inputOf(condition?.value), unless: name.value === 'skip', directive }] : [];
  });
}

function isFulfilled({ if: input, unless }: Condition, variables: Variables): boolean {
  return valueOf(input, variables) !== unless;
}

export function pageLengthOf({ arguments: args = [] }: FieldNode): PageLength {
  const argument = (name: keyof PageLength) => inputOf(args.find((one) => one.name.value === name)?.value);
  return { first: argument('first'), last: argument('last') };
}

/** A length out of range costs as much as the nearest allowed one; the operation itself will refuse it. */
function entriesOf({ first, last }: PageLength, variables: Variables): number {
  const length = valueOf(last, variables) ?? valueOf(first, variables) ?? PAGE.perPageDefault;
  return typeof length === 'number' ? Math.min(Math.max(length, 1), PAGE.perPageMax) : PAGE.perPageMax;
}

function inputOf(node: ValueNode | undefined): Input {
  if (node?.kind === Kind.VARIABLE) return { variable: node.name.value };
  return { constant: node && valueFromASTUntyped(node) };
}

function valueOf(input: Input, variables: Variables): unknown {
  return 'variable' in input ? variables[input.variable] : input.constant;
}
