/**
 * Reads the stories' steps. Each step is a file, and each chapter is a folder. Later steps depend on earlier ones. A
 * file's comment holds the guide's text, and the tab's `Authorization` and `Variables`.
 */
import { readdirSync, readFileSync } from 'node:fs';

interface Step {
  /** The operation's name, which is also the tab's. */
  readonly name: string;
  /** The file's name in plain words. */
  readonly title: string;
  readonly chapter: string;
  readonly calls: readonly string[];
  /** A preview of the response. */
  readonly coming: string;
  readonly isMeantToFail: boolean;
  readonly text: string;
  readonly tab: Readonly<{ query: string; headers?: string | undefined; variables?: string | undefined }>;
}

/** Compiled code reads `src` too, because the build doesn't copy these files. */
const FOLDER = new URL('../../../src/pages/playground/steps/', import.meta.url);

/** Without `buying`, the steps that buy tokens are left out. */
export function readSteps({ buying } = { buying: true }): readonly Step[] {
  const chapters = Object.entries(CHAPTERS).filter(([folder]) => buying || folder !== '4-buying-tokens');
  return chapters.flatMap(([folder, chapter]) =>
    readdirSync(new URL(folder, FOLDER))
      .toSorted()
      .map((file) => stepIn(chapter, file, readFileSync(new URL(`${folder}/${file}`, FOLDER), 'utf8'))),
  );
}

export function operationsOfSteps(): ReadonlySet<string> {
  return new Set(readSteps().flatMap(({ calls }) => calls));
}

const CHAPTERS = {
  '1-a-job-that-goes-well': 'A job that goes well',
  '2-a-dispute': 'A dispute and an appeal',
  '3-two-weeks-in-a-minute': 'Two weeks in a minute',
  '4-buying-tokens': 'Buying tokens',
  '5-saved-searches': 'Saved searches',
  '6-webhooks': 'Webhooks',
  '7-events-refusals-sessions': 'Events, errors, sessions',
  '8-ways-back-in': 'Account recovery and support',
  '9-what-next': 'What’s next',
};

function stepIn(chapter: string, file: string, source: string): Step {
  const [comment = '', query = ''] = source.trim().split(/\n\n([^]*)/);
  const [text = '', ...more] = comment.replaceAll(/^# ?/gm, '').split('\n\n');
  const authorization = partOf(more, 'Authorization');
  const headers = authorization && JSON.stringify({ authorization }, null, 2);
  const title = file
    .replaceAll(/^\d+-|\.graphql$/g, '')
    .replaceAll('-', ' ')
    .replace(/ i$/, ' I');
  const [, kind = '', name = ''] = /(query|mutation|subscription) (\w+)/.exec(query) ?? [];
  const calls = [...query.matchAll(/^ {2}(\w+)/gm)].map(([, field]) => field ?? '');
  const fields = new Set([...query.matchAll(/^ {4}(\w+)/gm)].map(([, field]) => field ?? ''));
  const when = kind === 'subscription' ? 'Each event appears here when it happens' : 'The response appears here';
  const isMeantToFail = text.startsWith('This step is meant to fail');
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
