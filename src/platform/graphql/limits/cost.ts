/**
 * An operation's cost: the bytes of JSON that its response may take, in points of 2,000. An object with its short
 * values counts as one point, and a string counts by its maximum length. A list costs its length times the cost of one
 * node. A short value with an alias counts separately. The sum is rounded up.
 *
 * A connection's page is read no matter what is selected from it, so it costs its length even if its nodes aren't
 * selected. `edges` and `pageInfo` cost nothing, except for an alias. Selections that GraphQL merges under one name
 * cost only once.
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

/** A field that has a cost, or whose own fields have one. */
export interface FieldCost {
  /** How many times the field's value is returned. */
  readonly times: number | PageLength;
  /** The bytes of the value itself. The value and its fields together count at least this much. */
  readonly own: number;
  readonly least: number;
  readonly fields: readonly FieldCost[];
  /** The conditions of each of the field's selections. The field is included if any of its selections is. */
  readonly selections: readonly (readonly Condition[])[];
}

/** An argument's value in the document, or the name of the variable that contains it. */
export type Input = { readonly variable: string } | { readonly constant: unknown };

/** The arguments that set a page's length. */
export interface PageLength {
  readonly first: Input;
  readonly last: Input;
}

export interface Condition {
  readonly if: Input;
  /** The value of the condition that omits the selection: true for `@skip`, false for `@include`. */
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

/**
 * A length that is out of range costs as much as the nearest allowed length. The operation itself then refuses the
 * length.
 */
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
 * The maximum length of text fields, by type and field name. The lengths are those of the entities' fields. A field
 * that is missing here is short: an identifier, a time, or a name that the service chose. A test checks every string in
 * the schema.
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
