/** Writes each enum once in the document, under its name in GraphQL, which code generators then use. */
import { refTo, type JsonSchema } from './json-schema.js';

export interface WithNamedEnums<Part> {
  /** The schema, with a reference in place of every named enum. */
  readonly part: Part;
  /** The enums by name. */
  readonly enums: Readonly<Record<string, JsonSchema>>;
}

export function withNamedEnums<Part extends object>(part: Part): WithNamedEnums<Part> {
  const enums = new Map<string, JsonSchema>();
  const result = replaceEnums(part, enums) as Part;
  return { part: result, enums: Object.fromEntries(enums) };
}

/** Examples are values, not schemas. */
const VALUES = new Set(['example', 'examples', 'enum']);

function replaceEnums(value: unknown, enums: Map<string, JsonSchema>): unknown {
  if (Array.isArray(value)) return value.map((entry) => replaceEnums(entry, enums));
  if (typeof value !== 'object' || value === null) return value;
  if (isNamedEnum(value)) return reference(value, enums);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, VALUES.has(name) ? inner : replaceEnums(inner, enums)]),
  );
}

interface NamedEnum {
  readonly enumName: string;
  readonly type: unknown;
  readonly enum: readonly unknown[];
}

function isNamedEnum(value: object): value is NamedEnum {
  return 'enumName' in value && typeof value.enumName === 'string' && 'enum' in value && Array.isArray(value.enum);
}

/** The description stays with the field. */
function reference({ enumName, type: _type, enum: values, ...others }: NamedEnum, enums: Map<string, JsonSchema>) {
  const choices = values.filter((value) => value !== null);
  const earlierChoices = enums.get(enumName)?.enum;
  if (earlierChoices !== undefined && JSON.stringify(earlierChoices) !== JSON.stringify(choices))
    throw new Error(`Two lists are called ${enumName}.`);
  enums.set(enumName, { type: 'string', enum: choices });
  const $ref = refTo('schemas', enumName);
  return choices.length === values.length ? { $ref, ...others } : { anyOf: [{ $ref }, { type: 'null' }], ...others };
}
