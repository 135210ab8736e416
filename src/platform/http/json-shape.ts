/**
 * What JSON.parse does not return about a text: how deep it nests, how many names its objects have, and whether one has
 * a name twice. Of two values for one name, a proxy may have looked at the other one.
 */

export interface JsonShape {
  readonly depth: number;
  /** Of the object with the most. */
  readonly names: number;
  readonly repeatedName: string | undefined;
}

/** The text is valid JSON already, so that only strings and brackets must be distinguished. */
export function shapeOfJson(text: string): JsonShape {
  const open: (Set<string> | undefined)[] = [];
  let depth = 0;
  let mostNames = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case OBJECT:
      case ARRAY:
        open.push(text.charCodeAt(at) === OBJECT ? new Set() : undefined);
        depth = Math.max(depth, open.length);
        break;
      case OBJECT_END:
      case ARRAY_END:
        open.pop();
        break;
      case QUOTE: {
        const end = endOfString(text, at);
        const names = open.at(-1);
        if (names && isName(text, end)) {
          const name: string = JSON.parse(text.slice(at, end));
          if (names.has(name)) return { depth, names: mostNames, repeatedName: name };
          names.add(name);
          mostNames = Math.max(mostNames, names.size);
        }
        at = end - 1;
      }
    }
  }
  return { depth, names: mostNames, repeatedName: undefined };
}

const [OBJECT, OBJECT_END, ARRAY, ARRAY_END, QUOTE, BACKSLASH, COLON] = ['{', '}', '[', ']', '"', '\\', ':'].map(
  (sign) => sign.charCodeAt(0),
);

/** Just behind the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** In an object, a string before a colon is a name and any other is a value. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (/\s/.test(text.charAt(at))) at += 1;
  return text.charCodeAt(at) === COLON;
}
