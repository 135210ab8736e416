/** Style that the formatter doesn't enforce: long strings and templates, and unreadable SQL templates. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor, type ESTree } from 'vite';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COLUMNS_MAX = 120;

/** Files that may have long lines: Markdown, JSON, licenses, and generated files. */
const NOT_OURS =
  /\.(md|json|gz|svg|patch|log)$|(^|[/\\])(node_modules|dist|results|raw|generated)[/\\]|^\.env|^LICENSE$/;

const FOLDERS = ['src', 'test', '.ci'];
const files = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { encoding: 'utf8', recursive: true }).map((file) => join(folder, file)),
  ),
]
  .filter((file) => !NOT_OURS.test(file) && statSync(join(ROOT, file)).isFile())
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

it(`no line has more than ${COLUMNS_MAX} columns`, () => {
  const long = files.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, at) => ([...line].length > COLUMNS_MAX ? [`${file}:${at + 1}`] : [])),
  );
  expect(long).toEqual([]);
});

it('no SQL template nests one conditional expression in another', () => {
  const found = files
    .filter(({ file }) => /^src\/.*\.ts$/.test(file))
    .flatMap(({ file, text }) => nestedChoices(text).map((line) => `${file}:${line}`));
  expect(found).toEqual([]);
});

it('finds a nested conditional expression', () => {
  const sql = (choice: string) => `sql<boolean>\`\${${choice}}\``;
  expect(nestedChoices(`const a = 1;\n${sql('one ? x : two ? y : z')};`)).toEqual([2]);
  expect(nestedChoices(`${sql('one ? x : y')}; const b = one ? x : two ? ${sql('y ? 1 : 2')} : z;`)).toEqual([]);
});

/** The lines of conditional expressions nested in others inside `sql` templates. */
function nestedChoices(text: string): number[] {
  const lines: number[] = [];
  let [templates, choices] = [0, 0];
  const isSql = ({ tag }: ESTree.TaggedTemplateExpression) => tag.type === 'Identifier' && tag.name === 'sql';
  new Visitor({
    TaggedTemplateExpression: (node) => void (templates += Number(isSql(node))),
    'TaggedTemplateExpression:exit': (node) => void (templates -= Number(isSql(node))),
    ConditionalExpression: ({ start }) => {
      choices += Number(templates > 0);
      if (choices > 1) lines.push(text.slice(0, start).split('\n').length);
    },
    'ConditionalExpression:exit': () => void (choices -= Number(templates > 0)),
  }).visit(parseSync('file.ts', text).program);
  return lines;
}
