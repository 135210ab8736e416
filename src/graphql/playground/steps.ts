/**
 * The steps of the playground's stories, a file each. A step can be run once those before it have run. Its comment is
 * what the bar above the tabs says of it, and what the tab sends besides: `Authorization` and `Variables`.
 */
import { readdirSync, readFileSync } from 'node:fs';

interface Step {
  /** The name of its operation, which GraphiQL shows as the name of the tab. */
  readonly name: string;
  readonly text: string;
  readonly tab: Readonly<{ query: string; headers?: string | undefined; variables?: string | undefined }>;
}

/** Compiled code reads them there too: they are no code, and so are not copied. */
const FOLDER = new URL('../../../src/graphql/playground/steps/', import.meta.url);

export function readSteps(): readonly Step[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((file) => stepIn(readFileSync(new URL(file, FOLDER), 'utf8')));
}

function stepIn(source: string): Step {
  const [comment = '', query = ''] = source.trim().split(/\n\n([^]*)/);
  const [text = '', ...more] = comment.replaceAll(/^# ?/gm, '').split('\n\n');
  const authorization = partOf(more, 'Authorization');
  const headers = authorization && JSON.stringify({ authorization }, null, 2);
  return {
    name: /(query|mutation|subscription) (\w+)/.exec(query)?.[2] ?? '',
    text: text.replaceAll('\n', ' '),
    tab: { query, headers, variables: partOf(more, 'Variables') },
  };
}

function partOf(parts: readonly string[], name: string): string | undefined {
  return parts.find((part) => part.startsWith(`${name}: `))?.slice(name.length + 2);
}
