/** The guide for single-page apps, and the files in it. */
import { readdirSync, readFileSync } from 'node:fs';

const DOCS = new URL('../../docs/', import.meta.url);

export const GUIDE: ReadonlyMap<string, string> = new Map(
  ['clients.md', ...readdirSync(new URL('clients/', DOCS)).map((name) => `clients/${name}`)].map((path) => [
    path,
    readFileSync(new URL(path, DOCS), 'utf8'),
  ]),
);

/** The code of each block that starts with a file name, by that name. */
export function filesIn(text: string): ReadonlyMap<string, string> {
  const blocks = text.matchAll(/^```tsx?\n\/\/ (\S+\.tsx?)\n([^]*?)^```$/gm);
  return new Map([...blocks].map(([, name = '', code = '']) => [name, code]));
}

/** GitHub's anchors for headings: lowercase, without punctuation, with hyphens for spaces. */
export function anchorsOf(text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}
