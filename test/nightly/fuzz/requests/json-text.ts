/** JSON as it is written, which need not be what JSON.stringify would write. */

/** A piece of text that stands where a value would. */
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

/** A copy with the value at one place changed; the caller chooses the place. */
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

/** As `__proto__` among the names is no field but a command, it is put in by its text. */
export function withField(value: unknown, name: string, field: unknown): Verbatim {
  const fields = isFields(value) ? Object.entries(value).filter(([, one]) => one !== undefined) : [];
  const texts = [
    ...fields.map(([key, one]) => `${JSON.stringify(key)}:${jsonText(one)}`),
    `${JSON.stringify(name)}:${jsonText(field)}`,
  ];
  return new Verbatim(`{${texts.join(',')}}`);
}
