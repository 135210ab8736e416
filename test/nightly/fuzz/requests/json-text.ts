/** JSON text that JSON.stringify might not write. */

/** Raw text instead of a value. */
export class Verbatim {
  constructor(readonly text: string) {}
}

export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Verbatim);
}

export function jsonText(value: unknown): string {
  if (value instanceof Verbatim) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (isFields(value)) {
    const said = Object.entries(value).filter(([, one]) => one !== undefined);
    return `{${said.map(([name, one]) => `${JSON.stringify(name)}:${jsonText(one)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** The paths of all values, for the caller to pick one and change it. */
export function placesIn(value: unknown, way: readonly string[] = []): string[][] {
  if (!isFields(value)) return [];
  return Object.keys(value).flatMap((name) => [[...way, name], ...placesIn(value[name], [...way, name])]);
}

export function changedAt(
  value: unknown,
  [name, ...rest]: readonly string[],
  change: (old: unknown) => unknown,
): unknown {
  if (name === undefined) return change(value);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, key === name ? changedAt(one, rest, change) : one]),
  );
}

/** In an object literal, `__proto__` sets the prototype instead of a field, so it is inserted as text. */
export function withField(value: unknown, name: string, field: unknown): Verbatim {
  const fields = isFields(value) ? Object.entries(value).filter(([, one]) => one !== undefined) : [];
  const texts = [
    ...fields.map(([key, one]) => `${JSON.stringify(key)}:${jsonText(one)}`),
    `${JSON.stringify(name)}:${jsonText(field)}`,
  ];
  return new Verbatim(`{${texts.join(',')}}`);
}
