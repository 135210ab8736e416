/** Refuses invalid input with one error that lists every bad field. */
import { z } from 'zod';
import { type Refusal, refuse } from '../errors.js';
import { kindOf, metaOf } from '../fields/shapes.js';

export function parse<Output>(schema: z.ZodType<Output>, input: unknown): Output {
  const parsed = schema.safeParse(input, IN_OUR_WORDS);
  if (!parsed.success) throw invalid(problemsOf(schema, parsed.error.issues));
  return parsed.data;
}

/** Combines the API's own findings with the schema's. */
export function invalidInput(schema: z.ZodType, input: unknown, found: ReadonlyMap<string, string>): Refusal {
  const parsed = schema.safeParse(input, IN_OUR_WORDS);
  return invalid(new Map([...problemsOf(schema, parsed.error?.issues ?? []), ...found]));
}

/** Refuses one field, for rules that a schema can't express. */
export function invalidField(field: string, problem: string): Refusal {
  return refuse('VALIDATION_FAILED', { fields: { [field]: problem } });
}

function invalid(problems: ReadonlyMap<string, string>): Refusal {
  return refuse('VALIDATION_FAILED', { fields: Object.fromEntries(problems) });
}

/** Returns a map, because a client may send a field called `constructor`, which plain objects already have. */
function problemsOf(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [field, problem] of issues.flatMap((issue) => problemsIn(schema, issue)))
    if (!fields.has(field)) fields.set(field, problem);
  return fields;
}

function problemsIn(schema: z.ZodType, issue: z.core.$ZodIssue): [field: string, problem: string][] {
  const place = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') return [[place.join('.') || 'body', issue.message]];
  const { setByService = [] } = metaOf(schemaAt(schema, issue.path));
  return issue.keys.map((key) => [
    [...place, key].join('.'),
    setByService.includes(key) ? 'is set by the service and can’t be sent' : NO_FIELD,
  ]);
}

function schemaAt(schema: z.core.$ZodType, [step, ...rest]: readonly PropertyKey[]): z.core.$ZodType {
  const kind = kindOf(schema);
  const next = kind.is === 'object' && step !== undefined ? kind.schema.shape[String(step)] : undefined;
  return next ? schemaAt(next, rest) : schema;
}

export const REQUIRED = 'is required';
export const NO_FIELD = 'isn’t a field of this operation';

export function mustBe(kind: string): string {
  return `must be ${KIND_WORDS[kind] ?? kind}`;
}

export function mustBeOneOf(values: readonly unknown[]): string {
  return `must be one of ${values.map(String).join(', ')}`;
}

const KIND_WORDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/**
 * Sets `async` because Zod copies these options and adds it. Otherwise, each copy would get its own hidden class (see
 * test/bench/README.md), and V8 couldn't optimize Zod's code.
 */
const IN_OUR_WORDS = { error: sentenceFor, async: false };

/** Returns our message for an issue. If undefined, the schema's message or Zod's applies. */
function sentenceFor(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? REQUIRED : mustBe(isInteger(issue.inst) ? 'int' : issue.expected);
    case 'invalid_value':
      return issue.input === undefined ? REQUIRED : mustBeOneOf(issue.values);
    case 'too_big':
      return issue.origin === 'array'
        ? `must have at most ${issue.maximum} entries`
        : `must be at most ${issue.maximum}`;
    case 'too_small':
      return issue.inclusive ? `must be at least ${issue.minimum}` : `must be more than ${issue.minimum}`;
    case 'custom':
      return issue.input === undefined ? REQUIRED : undefined;
    default:
      return undefined;
  }
}

/** Zod first checks for a number, and then for an integer. */
function isInteger(schema: unknown): boolean {
  return schema instanceof z.ZodNumber && kindOf(schema).is === 'integer';
}
