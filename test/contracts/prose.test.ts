/** Keeps wording out of our texts that a native US technical writer would not use. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  problemsIn,
  sentencesOfComments,
  sentencesOfGraphql,
  sentencesOfMarkdown,
  sentencesOfMessages,
  sentencesOfOpenApi,
  sentencesOfStep,
  sentencesOfStrings,
  sentencesOfTestNames,
  type Sentence,
} from './prose/sentences.js';

type Reader = (file: string, content: string) => Sentence[];

function problems(read: Reader, files: readonly string[]): string[] {
  return problemsIn(files.flatMap((file) => read(file, readFileSync(file, 'utf8'))));
}

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(folder, { encoding: 'utf8', recursive: folder !== '.' })
    .map((file) => (folder === '.' ? file : `${folder}/${file}`))
    .filter((file) => file.endsWith(ending) && !/node_modules|\/results\//.test(file));
}

const PAGES = /^src\/pages\//;

it.each<readonly [what: string, read: Reader, files: readonly string[]]>([
  ['GraphQL', sentencesOfGraphql, ['schema/api.graphql']],
  ['OpenAPI', sentencesOfOpenApi, ['schema/openapi.json']],
  ['the lifecycle', sentencesOfMarkdown, ['schema/lifecycle.md']],
  ['messages and emails', sentencesOfMessages, filesIn('src', '.ts').filter((file) => !PAGES.test(file))],
])('%s: every sentence is plain English', (_what, read, files) => {
  expect(files.length).toBeGreaterThan(0);
  expect(problems(read, files)).toEqual([]);
});

/** How many matches are left. Lower a number whenever you rewrite some. Never raise one. */
const CEILINGS = { pages: 0, 'other strings': 1, Markdown: 0, comments: 0, 'comments and names of tests': 0 };

it.each<readonly [what: keyof typeof CEILINGS, found: () => string[]]>([
  [
    'pages',
    () => [
      ...problems(
        sentencesOfStrings,
        filesIn('src', '.ts').filter((file) => PAGES.test(file)),
      ),
      ...problems(sentencesOfStep, filesIn('src/pages/playground/steps', '.graphql')),
    ],
  ],
  [
    'other strings',
    () =>
      problems(
        sentencesOfStrings,
        filesIn('src', '.ts').filter((file) => !PAGES.test(file)),
      ),
  ],
  [
    'Markdown',
    () =>
      problems(
        sentencesOfMarkdown,
        ['.', 'docs', 'src', 'deploy', 'test'].flatMap((folder) => filesIn(folder, '.md')),
      ),
  ],
  ['comments', () => problems(sentencesOfComments, filesIn('src', '.ts'))],
  [
    'comments and names of tests',
    () => [
      ...problems(sentencesOfTestNames, filesIn('test', '.ts')),
      ...problems(sentencesOfComments, filesIn('test', '.ts')),
    ],
  ],
])('%s: at most as many matches as before', (what, found) => {
  const all = found();
  expect(all.length, `At most ${CEILINGS[what]} are allowed:\n${all.join('\n')}`).toBeLessThanOrEqual(CEILINGS[what]);
});

it('names the line, the words, and what to write', () => {
  const sentences = sentencesOfStrings('a.ts', "const a = 1;\nthrow refuse('This ' + 'link works no more.');");
  expect(problemsIn(sentences)).toEqual([
    'a.ts:2: This link works no more. → Instead of “works no more”, write “no longer works”.',
  ]);
});
