/**
 * An operation's cost: the maximum size of its JSON response, in points of 2,000 bytes. An object with its short values
 * costs one point. A string costs its maximum length, and a list its length times one node's cost. A short value with
 * an alias costs extra. The sum is rounded up.
 *
 * A connection reads its page no matter what is selected, so it costs the page's length even without nodes. `edges` and
 * `pageInfo` cost nothing without an alias. Selections that GraphQL merges under one name cost once.
 */
import {
  Kind,
  valueFromASTUntyped,
  type DirectiveNode,
  type FieldNode,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql';
import { COST_BYTES, PAGE, FIELD_TEXT } from '../../caller-limits.js';
import type { z } from 'zod';
import { kindOf, metaOf } from '../../fields/shapes.js';
import type { Entity } from '../../fields/entity.js';

/** A field that costs something itself, or contains fields that do. */
export interface FieldCost {
  /** How many times the response contains the field's value. */
  readonly times: number | PageLength;
  readonly own: number;
  /** The minimum for the value and its fields together, in bytes. */
  readonly least: number;
  readonly fields: readonly FieldCost[];
  /** The conditions of each of the field's selections. One selection is enough to include the field. */
  readonly selections: readonly (readonly Condition[])[];
}

/** A constant, or the name of the variable that holds the value. */
export type Input = { readonly variable: string } | { readonly constant: unknown };

export interface PageLength {
  readonly first: Input;
  readonly last: Input;
}

export interface Condition {
  readonly if: Input;
  /** The condition's value that omits the selection: true for `@skip`, false for `@include`. */
  readonly unless: boolean;
  readonly directive: DirectiveNode;
}

type Variables = Readonly<Record<string, unknown>>;

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
  return (variables) => Math.ceil(bytesOf(fields, { ...presets, ...variables }) / COST_BYTES.point);
}

function bytesOf(fields: readonly FieldCost[], variables: Variables): number {
  let bytes = 0;
  for (const { times, own, least, fields: inner, selections } of fields) {
    if (!selections.some((conditions) => conditions.every((condition) => isFulfilled(condition, variables)))) continue;
    const count = typeof times === 'number' ? times : entriesOf(times, variables);
    bytes += count * Math.max(least, own + bytesOf(inner, variables));
  }
  return bytes;
}

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

/** A length out of range costs as much as the nearest allowed one. The operation refuses it later. */
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

/**
 * The maximum length of text fields by type and field name, taken from the entities. Fields that are missing here are
 * short: IDs, times, and names that the service chose. A test checks every string in the schema.
 */
export type TextCharacters = Readonly<Record<string, Readonly<Record<string, number>>>>;

export function textCharactersOf(entities: readonly Entity[]): TextCharacters {
  return Object.fromEntries(
    entities.map(({ name, fields }) => [
      name,
      Object.fromEntries(
        Object.entries(fields)
          .map(([field, { type }]) => [field, charactersIn(type)] as const)
          .filter(([, characters]) => characters > 0),
      ),
    ]),
  );
}

function charactersIn(type: z.core.$ZodType): number {
  const kind = kindOf(type);
  if (kind.is === 'list') return FIELD_TEXT.listItems * charactersIn(kind.entry);
  const { maxLength, charactersMax } = metaOf(type);
  return charactersMax ?? maxLength ?? 0;
}
