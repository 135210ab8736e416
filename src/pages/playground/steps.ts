/**
 * The steps of the playground's stories: a folder for each chapter, and a file for each step. A step can be run once
 * those before it have run. Its comment is what the bar above the tabs says of it, and what the tab sends besides:
 * `Authorization` and `Variables`.
 */
import { readdirSync, readFileSync } from 'node:fs';

interface Step {
  /** The name of its operation, which GraphiQL shows as the name of the tab. */
  readonly name: string;
  /** In plain words, as its file is named. */
  readonly title: string;
  readonly chapter: string;
  /** The first fields that it asks for: a mutation’s is the operation of the market. */
  readonly calls: readonly string[];
  /** What its answer is about to say. */
  readonly coming: string;
  readonly isMeantToFail: boolean;
  readonly text: string;
  readonly tab: Readonly<{ query: string; headers?: string | undefined; variables?: string | undefined }>;
}

/** Compiled code reads them there too: they are no code, and so are not copied. */
const FOLDER = new URL('../../../src/pages/playground/steps/', import.meta.url);

export function readSteps(): readonly Step[] {
  return Object.entries(CHAPTERS).flatMap(([folder, chapter]) =>
    readdirSync(new URL(folder, FOLDER))
      .toSorted()
      .map((file) => stepIn(chapter, file, readFileSync(new URL(`${folder}/${file}`, FOLDER), 'utf8'))),
  );
}

/** The operations of the market that some step performs. */
export function operationsOfSteps(): ReadonlySet<string> {
  return new Set(readSteps().flatMap(({ calls }) => calls));
}

/** Each folder is a chapter, and these are their titles. */
const CHAPTERS = {
  '1-a-job-that-goes-well': 'A job that goes well',
  '2-a-dispute': 'A dispute, to the last word',
  '3-events-refusals-sessions': 'Events, refusals, sessions',
  '4-ways-back-in': 'Ways back in, and support',
};

function stepIn(chapter: string, file: string, source: string): Step {
  const [comment = '', query = ''] = source.trim().split(/\n\n([^]*)/);
  const [text = '', ...more] = comment.replaceAll(/^# ?/gm, '').split('\n\n');
  const authorization = partOf(more, 'Authorization');
  const headers = authorization && JSON.stringify({ authorization }, null, 2);
  const number = Number.parseInt(file, 10);
  const title = file
    .replaceAll(/^\d+-|\.graphql$/g, '')
    .replaceAll('-', ' ')
    .replace(/ i$/, ' I');
  const [, kind = '', name = ''] = /(query|mutation|subscription) (\w+)/.exec(query) ?? [];
  const calls = [...query.matchAll(/^ {2}(\w+)/gm)].map(([, field]) => field ?? '');
  const fields = new Set([...query.matchAll(/^ {4}(\w+)/gm)].map(([, field]) => field ?? ''));
  const when = kind === 'subscription' ? 'Each event comes here as it happens' : 'The answer comes here';
  const isMeantToFail = number >= 28 && number <= 32;
  return {
    name,
    title: title.charAt(0).toUpperCase() + title.slice(1),
    chapter,
    calls,
    coming: `${when}${isMeantToFail ? ', with its errors' : ''}: ${calls.join(', ')} (${[...fields].join(', ')}).`,
    isMeantToFail,
    text: text.replaceAll('\n', ' '),
    tab: { query, headers, variables: partOf(more, 'Variables') },
  };
}

function partOf(parts: readonly string[], name: string): string | undefined {
  return parts.find((part) => part.startsWith(`${name}: `))?.slice(name.length + 2);
}
