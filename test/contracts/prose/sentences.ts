/** The sentences that people read in a file: its Markdown, its comments, its strings, or its descriptions. */
import { readFileSync } from 'node:fs';
import { parse, visit } from 'graphql';
import { parseSync, Visitor, type ESTree } from 'vite';

/** Wording that a native US technical writer would not use. A hint is right half of the time, so it fails nothing. */
interface Pattern {
  readonly name: string;
  readonly pattern: string;
  /** What to write instead. */
  readonly use: string;
  readonly isHint?: boolean;
}

const PATTERNS = (
  JSON.parse(readFileSync(new URL('patterns.json', import.meta.url), 'utf8')) as readonly Pattern[]
).flatMap(({ pattern, use, isHint = false }) => (isHint ? [] : [{ use, pattern: new RegExp(pattern, 'i') }]));

export interface Sentence {
  readonly file: string;
  line(): number;
  readonly text: string;
}

/** One line for each sentence that matches a pattern: the place, the words, and what to write instead. */
export function problemsIn(sentences: readonly Sentence[]): string[] {
  return sentences.flatMap(({ file, line, text }) => {
    const masked = text.replaceAll(/`[^`]*`/g, '`x`').replaceAll(/\]\([^)]*\)/g, ']()');
    return PATTERNS.flatMap(({ pattern, use }) => {
      const match = pattern.exec(masked);
      return match ? [`${file}:${line()}: ${text.slice(0, 300)} → Instead of “${match[0].trim()}”, write ${use}.`] : [];
    });
  });
}

function split(file: string, line: () => number, text: string): Sentence[] {
  return text
    .split(/(?<=[.!?])\s+(?=[A-Z`])/)
    .map((sentence) => ({ file, line, text: sentence.replaceAll(/\s+/g, ' ').trim() }));
}

const cache = new Map<string, ReturnType<typeof parseSync>>();

/** Several readers look at the same files. */
function parsed(file: string, content: string): ReturnType<typeof parseSync> {
  const known = cache.get(file) ?? parseSync(file, content);
  cache.set(file, known);
  return known;
}

/** Counted only when a problem is printed. */
const lineAt = (content: string, offset: number) => () => content.slice(0, offset).split('\n').length;

/** Paragraphs, list items, headings, and the cells of tables. Blocks of code are left out. */
export function sentencesOfMarkdown(file: string, content: string): Sentence[] {
  const prose = content.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  const units: { line: number; text: string }[] = [];
  let isOpen = false;
  for (const [at, raw] of prose.split('\n').entries()) {
    const text = raw.trim();
    const cells = text.startsWith('|') ? text.split('|').slice(1, -1) : undefined;
    const last = units.at(-1);
    if (cells) units.push(...cells.map((cell) => ({ line: at + 1, text: cell })));
    else if (isOpen && last && !/^([-*#>]|\d+\.)/.test(text)) last.text += ` ${text}`;
    else units.push({ line: at + 1, text: text.replace(/^([-*#>]+|\d+\.)\s/, '') });
    isOpen = text !== '' && !cells && !text.startsWith('#');
  }
  return units.flatMap(({ line, text }) => split(file, () => line, text));
}

export function sentencesOfGraphql(file: string, content: string): Sentence[] {
  const sentences: Sentence[] = [];
  visit(parse(content), {
    enter(node) {
      if (!('description' in node) || !node.description) return;
      const { value, loc } = node.description;
      sentences.push(...value.split(/\n/).flatMap((text) => split(file, () => loc?.startToken.line ?? 1, text)));
    },
  });
  return sentences;
}

/** The descriptions and summaries of an OpenAPI document, by their lines. */
export function sentencesOfOpenApi(file: string, content: string): Sentence[] {
  return content.split('\n').flatMap((raw, at) => {
    const [, json] = /^\s*"(?:description|summary|title)": (".*"),?$/.exec(raw) ?? [];
    return json === undefined
      ? []
      : (JSON.parse(json) as string).split('\n').flatMap((text) => split(file, () => at + 1, text));
  });
}

export function sentencesOfComments(file: string, content: string): Sentence[] {
  const units: { start: number; end: number; text: string }[] = [];
  for (const { value, start, end } of parsed(file, content).comments) {
    const text = value.replaceAll(/^\s*\*+/gm, '');
    const last = units.at(-1);
    // Line comments that follow each other are one text.
    if (last && /^\n\s*$/.test(content.slice(last.end, start)))
      Object.assign(last, { end, text: `${last.text} ${text}` });
    else units.push({ start, end, text });
  }
  return units.flatMap(({ start, text }) => split(file, lineAt(content, start), text));
}

/** The names of the tests in a file. */
export function sentencesOfTestNames(file: string, content: string): Sentence[] {
  const sentences: Sentence[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [name] }) {
      const text = name && textOf(name as ESTree.Expression);
      if (text && /^(it|test|describe)\b/.test(content.slice(callee.start, callee.end)))
        sentences.push(...split(file, lineAt(content, name.start), text));
    },
  }).visit(parsed(file, content).program);
  return sentences;
}

/** Strings that are sentences or what's wrong with a field. */
export function sentencesOfMessages(file: string, content: string): Sentence[] {
  return sentencesOfStrings(file, content).filter(({ text }) => MESSAGE.test(text));
}

const MESSAGE =
  /^[A-Z“`][\s\S]*[.?!:]$|^(must|is|isn’t|can’t|belongs|requires|was|has|doesn’t|allows|differs|would|already)\b/;

/** Strings that look like prose: several words, and no SQL. The text of HTML counts, its tags don't. */
export function sentencesOfStrings(file: string, content: string): Sentence[] {
  const sentences: Sentence[] = [];
  const inside: { end: number }[] = [];
  const add = (node: ESTree.Expression) => {
    if (inside.some(({ end }) => node.start < end)) return;
    const text = textOf(node);
    if (text === undefined) return;
    inside.splice(0, inside.length, { end: node.end });
    if (CODE.test(text)) return;
    const parts = text.split(/<[^<>]*>|\n\s*\n/).filter((part) => WORDS.test(part));
    sentences.push(...parts.flatMap((part) => split(file, lineAt(content, node.start), part)));
  };
  new Visitor({ BinaryExpression: add, Literal: add, TemplateLiteral: add }).visit(parsed(file, content).program);
  return sentences;
}

const WORDS = /[A-Za-z’]+ [a-z]+/;
const CODE = /=>|\w\.[a-z]+_[a-z]+|\b(set|const) \w+ =|^\s*\/\*|\bselect\b[\s\S]*\bfrom\b|^\s*(insert|update|delete) /i;

/** The text of a string, a template, or a sum of them. Each inserted value is written as `x`. */
function textOf(node: ESTree.Expression | ESTree.PrivateIdentifier): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? '').join('`x`');
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** The comments of a step of the playground, which the page shows. */
export function sentencesOfStep(file: string, content: string): Sentence[] {
  const text = content
    .split('\n')
    .flatMap((line) => /^#\s?(?!\s*[{}"]|Variables|Authorization)(.*)/.exec(line)?.[1] ?? [])
    .join(' ');
  return split(file, () => 1, text);
}
