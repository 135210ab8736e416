/** Prints Zod schemas as JSON Schema in REST's spelling, and adds rules that Zod omits. */
import { z } from 'zod';
import type { Operation } from '../call/operation.js';
import { idPattern } from '../ids.js';
import { wireName } from './wire.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

export function refTo(kind: 'schemas' | 'responses' | 'headers' | 'examples' | 'parameters', name: string): string {
  return `#/components/${kind}/${name}`;
}

export function inputSchema({ input }: Operation<unknown, unknown>): JsonSchema {
  return toDocumentSchema(
    z.toJSONSchema(input, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => addRules(zodSchema, jsonSchema),
    }),
  );
}

/** Rules that a JSON Schema keyword expresses. Others become a sentence in the field's description. */
const EXPRESSED_BY_KEYWORDS = /^must be (at most \d+ characters|valid Unicode)/;

const RULES = 'x-rules';

function addRules(schema: z.core.$ZodType, json: Record<string, unknown>): void {
  const checks = schema instanceof z.ZodType ? (schema.def.checks ?? []) : [];
  const rules = checks.flatMap((check) => (check instanceof z.core.$ZodCustom ? sentenceOf(check) : []));
  if (rules.length > 0) json[RULES] = rules;
}

function sentenceOf(check: z.core.$ZodCustom): string[] {
  const { error, path } = check._zod.def;
  const problem = error?.({ code: 'custom', input: null, path: [], message: '' });
  const rule = typeof problem === 'string' ? problem : problem?.message;
  if (rule === undefined || EXPRESSED_BY_KEYWORDS.test(rule)) return [];
  return [
    path
      ? `\`${path.map((name) => wireName(String(name))).join('.')}\` ${rule}.`
      : `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`,
  ];
}

/** Metadata that the document must not contain. `withNamedEnums` removes `enumName`. */
const OWN_METADATA = new Set([
  '$schema',
  'parameter',
  'implied',
  'day',
  'kind',
  'idPrefix',
  'setByService',
  'charactersMax',
  'answerMinimum',
  'timestamp',
  'description',
  RULES,
]);

/** Converts names to REST's spelling, and writes null as another type instead of another schema. */
export function toDocumentSchema(schema: JsonSchema): JsonSchema {
  const nullable = partOrNull(schema);
  if (nullable) {
    const { anyOf: _both, ...outer } = schema;
    return withNull(toDocumentSchema({ ...nullable, ...outer, ...withRules(nullable, outer) }));
  }
  const { properties, items, idPrefix, required } = schema;
  const description = [
    schema.description ?? (schema.readOnly ? 'Read-only. You can send it back unchanged.' : undefined),
    ...rulesOf(schema),
  ]
    .filter(Boolean)
    .join(' ');
  return {
    ...Object.fromEntries(Object.entries(schema).filter(([name]) => !OWN_METADATA.has(name))),
    ...(typeof idPrefix === 'string' && { pattern: idPattern(idPrefix) }),
    ...(description !== '' && { description }),
    ...(isObject(items) && { items: toDocumentSchema(items) }),
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [wireName(name), toDocumentSchema(inner as JsonSchema)]),
      ),
    }),
    ...(Array.isArray(required) && { required: required.map((name) => wireName(String(name))) }),
  };
}

function partOrNull({ anyOf }: JsonSchema): JsonSchema | undefined {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return undefined;
  const [part, none] = anyOf as JsonSchema[];
  return none?.type === 'null' ? part : undefined;
}

function rulesOf({ [RULES]: rules }: JsonSchema): string[] {
  return Array.isArray(rules) ? rules.map(String) : [];
}

function withRules(...schemas: JsonSchema[]): JsonSchema {
  const rules = schemas.flatMap(rulesOf);
  return rules.length > 0 ? { [RULES]: rules } : {};
}

export function withNull(schema: JsonSchema): JsonSchema {
  if (schema.type === undefined) return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }),
  };
}

/** Removes null, which a query can't contain. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const kinds = Array.isArray(schema.type) ? schema.type.filter((kind) => kind !== 'null') : [schema.type];
  return {
    ...schema,
    type: kinds.length === 1 ? kinds[0] : kinds,
    ...(Array.isArray(schema.enum) && { enum: schema.enum.filter((value) => value !== null) }),
  };
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Writes each enum once under its GraphQL name, which code generators then use. */
export interface WithNamedEnums<Part> {
  readonly part: Part;
  readonly enums: Readonly<Record<string, JsonSchema>>;
}

export function withNamedEnums<Part extends object>(part: Part): WithNamedEnums<Part> {
  const enums = new Map<string, JsonSchema>();
  const result = replaceEnums(part, enums) as Part;
  return { part: result, enums: Object.fromEntries(enums) };
}

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

/** Refers to the enum. The description stays with the field. */
function reference({ enumName, type: _type, enum: values, ...others }: NamedEnum, enums: Map<string, JsonSchema>) {
  const choices = values.filter((value) => value !== null);
  const earlierChoices = enums.get(enumName)?.enum;
  if (earlierChoices !== undefined && JSON.stringify(earlierChoices) !== JSON.stringify(choices))
    throw new Error(`Two lists are called ${enumName}.`);
  enums.set(enumName, { type: 'string', enum: choices });
  const $ref = refTo('schemas', enumName);
  return choices.length === values.length ? { $ref, ...others } : { anyOf: [{ $ref }, { type: 'null' }], ...others };
}
