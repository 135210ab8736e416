/** Values that an OpenAPI schema and the underlying rules allow. */
import { resolve } from '../../../story/documented.js';
import type { Json } from '../../../setup/app.js';
import type { Dice } from '../../../setup/random/dice.js';

/** Facts that a schema can't express, such as an existing identifier or the right password, by field name. */
export type Known = Readonly<Record<string, unknown>>;

export function validValue(schema: Json, name: string, dice: Dice, known: Known): unknown {
  if (name in known) return known[name];
  if (schema.$ref) return validValue(resolve(schema.$ref), name, dice, known);
  if (schema.anyOf) {
    const [part] = schema.anyOf;
    return dice.percent(10) ? null : validValue(part, name, dice, known);
  }
  if (schema.enum) return dice.pick((schema.enum as unknown[]).filter((one) => one !== null));
  const types: string[] = [schema.type].flat();
  if (types.includes('null') && dice.percent(10)) return null;
  return BY_TYPE[types.find((type) => type !== 'null') ?? 'string']?.(schema, name, dice, known);
}

const BY_TYPE: Readonly<Record<string, (schema: Json, name: string, dice: Dice, known: Known) => unknown>> = {
  object: validObject,
  array: (schema, name, dice, known) =>
    Array.from({ length: dice.int(0, Math.min(schema.maxItems ?? 3, 3)) }, () =>
      validValue(schema.items, `${name}[]`, dice, known),
    ),
  integer: ({ minimum = 0, maximum = 1_000 }, _name, dice) =>
    dice.pick([minimum, maximum, dice.int(minimum, maximum), dice.int(minimum, Math.min(maximum, minimum + 20))]),
  number: ({ minimum = 0, maximum = 1_000 }, _name, dice) =>
    dice.pick([maximum, 0.01, dice.int(Math.max(1, minimum * 100), 1_000_000) / 100, dice.int(1, 5_000)]),
  boolean: (_schema, _name, dice) => dice.percent(50),
  string: validString,
};

function validObject(
  { properties = {}, required = [] }: Json,
  _name: string,
  dice: Dice,
  known: Known,
): Record<string, unknown> {
  const entries = Object.entries<Json>(properties)
    .filter(
      ([name, field]) =>
        !field.readOnly && !field.deprecated && (required.includes(name) || name in known || dice.percent(50)),
    )
    .map(([name, field]): [string, unknown] => [name, validValue(field, name, dice, known)])
    .filter(([, value]) => value !== undefined);
  return inOrder(Object.fromEntries(entries));
}

/** Pairs of related fields, with the smaller one first. */
const ORDERED = [
  ['budget_min', 'budget_max'],
  ['desired_start_date', 'desired_completion_date'],
] as const;

function inOrder(fields: Record<string, unknown>): Record<string, unknown> {
  for (const [low, high] of ORDERED) {
    const [one, other] = [fields[low], fields[high]];
    if (one === null || other === null || one === undefined || other === undefined) continue;
    if ((typeof one === 'number' && typeof other === 'number' && one > other) || String(one) > String(other))
      [fields[low], fields[high]] = [other, one];
    if (typeof fields[low] === 'number' && Number(fields[low]) > Number(fields[high]))
      [fields[low], fields[high]] = [fields[high], fields[low]];
  }
  return fields;
}

function validString(
  { format, minLength = 0, maxLength = 200, pattern }: Json,
  name: string,
  dice: Dice,
): string | undefined {
  if (format === 'date-time') return `2${dice.int(100, 999)}-0${dice.int(1, 9)}-${dice.int(10, 28)}T12:30:00Z`;
  // A pattern means that the value must name something that exists. If it is unknown, the field is left out.
  if (pattern) return undefined;
  if (format === 'date') return `20${dice.int(30, 89)}-0${dice.int(1, 9)}-${dice.int(10, 28)}`;
  if (format === 'uri') return `https://example.test/${dice.int(1, 999)}`;
  if (name === 'zip_code') return dice.pick(['78701', '10001-1234', '00000', 'SW1A 1AA', '94103']);
  if (name === 'city') return dice.pick(['Austin', 'St. Louis', 'Nowhere', 'constructor']);
  const length = dice.weighted([
    [80, dice.int(1, 40)],
    [8, maxLength],
    [12, 1],
  ]);
  const words = dice.pick(WORDS);
  return words
    .repeat(Math.ceil(length / words.length))
    .slice(0, Math.max(length, minLength))
    .replace(/^\s/, 'x')
    .replace(/\s$/, 'x')
    .replace(/[\ud800-\udbff]$/, 'x');
}

const WORDS = [
  'Mend the roof ',
  'naïve façade ',
  '屋根の修理',
  'ab%_\\',
  `O'Brien "quoted" `,
  'plumbing',
  '🛠️',
  'x',
  '0',
  '<b>bold</b>',
  'null',
];
