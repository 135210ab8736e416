/** Imports go one way. The table below lists what each folder may import. Add each new folder of src/ to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Each folder of src/, and the others that it may import from. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  market: ['platform'],
  graphql: ['platform', 'market'],
  rest: ['platform', 'market'],
  pages: ['platform', 'market'],
  app: ['platform', 'market', 'graphql', 'rest', 'pages'],
  commands: ['platform', 'market', 'app'],
  main: ['app', 'commands'],
};

/** In the market, each folder may import from those before it. */
const MARKET = ['rules', 'store', 'mail', 'webhooks', 'operations'].map((folder) => `market/${folder}`);

/** The APIs may import row types, but no code that runs. Code that counts something gets the metrics as an argument. */
const TYPES_ALONE: readonly (readonly [from: string, to: string])[] = [
  ['graphql', 'market/store'],
  ['graphql', 'platform/db'],
  ['graphql', 'platform/live'],
  ['platform/graphql', 'platform/db'],
  ['platform/graphql', 'platform/live'],
  ['platform/openapi', 'platform/db'],
  ['rest', 'market/store'],
  ['rest', 'platform/db'],
  ['platform/live', 'platform/telemetry'],
];

/**
 * The loaders read in batches, for many parents. An operation has already checked that this viewer may see the rows.
 */
const MAY_RUN_STATEMENTS = [join('src', 'graphql', 'loaders.ts')];

/** Packages that only these folders may import. */
const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  'drizzle-orm': ['market/store', 'platform/db', 'platform/queue'],
  postgres: ['market/store', 'platform/db', 'platform/embedded'],
  graphql: ['graphql', 'platform/graphql'],
  'type-graphql': ['graphql'],
  '@apollo/server': ['platform/graphql'],
  'graphql-ws': ['platform/graphql'],
  'graphql-sse': ['platform/graphql'],
  ws: ['platform/graphql'],
  'graphql-rate-limit': ['platform/security'],
  'rate-limiter-flexible': ['platform/security'],
  bcrypt: ['platform/security'],
  jsonwebtoken: ['platform/security'],
  'ipaddr.js': ['platform/security'],
  ioredis: ['platform/redis'],
  'prom-client': ['platform/telemetry'],
  ksuid: ['platform/ids'],
};

/** Zod describes values, and works only on the values that it gets. */
const PACKAGES_OF_THE_RULES = ['zod'];

interface Import {
  readonly file: string;
  readonly place: string;
  readonly specifier: string;
  readonly typesAlone: boolean;
}

const files = filesIn('src');
const imports = files.flatMap(importsOf);
const inside = imports.filter(isRelative).map((found) => ({ ...found, target: targetOf(found) }));
const outside = imports
  .filter((found) => !isRelative(found))
  .map((found) => ({ ...found, package: packageOf(found.specifier) }));

describe('the direction of imports', () => {
  it('is defined for every folder in src/', () => {
    expect([...new Set(files.map(topOf))].filter((top) => !(top in MAY_IMPORT))).toEqual([]);
  });

  it('is the same for every import', () => {
    const wrong = inside.filter(({ file, target }) => {
      const from = topOf(file);
      const to = topOf(target);
      if (target.startsWith('..')) return false;
      return from !== to && !MAY_IMPORT[from]?.includes(to);
    });
    expect(wrong.map(sentence)).toEqual([]);
  });

  it('goes from operations to the store to the rules, within the market', () => {
    const wrong = inside.filter(({ place, target }) => MARKET.indexOf(place) < MARKET.indexOf(placeOf(target)));
    expect(wrong.filter(({ place }) => MARKET.includes(place)).map(sentence)).toEqual([]);
  });

  it('leads from the APIs to the store only for types', () => {
    const running = inside.filter(
      ({ place, target, typesAlone }) =>
        !typesAlone && TYPES_ALONE.some(([from, to]) => from === place && to === placeOf(target)),
    );
    expect(running.filter(({ file }) => !MAY_RUN_STATEMENTS.includes(file)).map(sentence)).toEqual([]);
  });

  it.each(['src', 'test'])('has no cycles in %s/, not even for types', (folder) => {
    const all = filesIn(folder);
    const targets = new Map(all.map((file) => [file, importsOf(file).filter(isRelative).map(targetOf)]));
    // TypeScript files are imported by their compiled names.
    const written = (target: string) =>
      [target, target.replace(/js$/, 'ts'), target.replace(/js$/, 'tsx')].find((file) => targets.has(file)) ?? target;
    const done = new Set<string>();
    const circleFrom = (file: string, way: readonly string[]): readonly string[] | undefined => {
      if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
      if (done.has(file)) return undefined;
      done.add(file);
      const next = (targets.get(file) ?? []).map(written);
      return next.map((target) => circleFrom(target, [...way, file])).find((circle) => circle);
    };
    expect(all.flatMap((file) => circleFrom(file, []) ?? [])).toEqual([]);
  });

  it('never leaves src/', () => {
    expect(inside.filter(({ target }) => !target.startsWith(`src${sep}`)).map(sentence)).toEqual([]);
  });
});

describe('the one place for', () => {
  it('the database, GraphQL, and Redis: their packages are imported nowhere else', () => {
    const wrong = outside.filter((found) => PACKAGE_HOMES[found.package]?.includes(found.place) === false);
    expect(wrong.map(sentence)).toEqual([]);
  });

  it('the specification: the rules use no clock and no randomness', () => {
    const others = outside.filter((found) => !PACKAGES_OF_THE_RULES.includes(found.package));
    expect(others.filter(({ place }) => place === 'market/rules').map(sentence)).toEqual([]);
    const impure = /\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bMath\.random\b|\bcrypto\b/;
    expect(files.filter((file) => placeOf(file) === 'market/rules' && impure.test(read(file)))).toEqual([]);
  });

  it('code, which is written and never generated from text', () => {
    const fromText = /\bFunction\(|(?<!\.)\beval\(|\beval: true\b|['"]node:vm['"]/;
    expect(files.filter((file) => fromText.test(read(file)))).toEqual([]);
  });

  it('the environment, which only the configuration reads', () => {
    expect(files.filter((file) => /process\s*(\.|\[\s*['"])\s*env\b/.test(read(file)))).toEqual([
      join('src', 'app', 'config.ts'),
    ]);
  });

  it('schema/, which only the migrator reads', () => {
    expect(files.filter((file) => /['"`](\.\.\/)+schema\/|['"`]schema\//.test(read(file)))).toEqual([
      join('src', 'platform', 'db', 'migrate.ts'),
    ]);
  });
});

/** Omits dependencies and generated files. */
function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { encoding: 'utf8', recursive: true })
    .filter((file) => /\.(ts|tsx|js|mjs)$/.test(file) && !/(^|[/\\])(node_modules|dist|generated)[/\\]/.test(file))
    .map((file) => join(folder, file))
    .toSorted();
}

function importsOf(file: string): Import[] {
  const source = read(file);
  const { errors, program, module } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const place = placeOf(file);
  const named = program.body.flatMap((node) => {
    if (!('source' in node) || !node.source) return [];
    const typesAlone =
      ('importKind' in node && node.importKind === 'type') ||
      ('exportKind' in node && node.exportKind === 'type') ||
      namesTypesAlone(node);
    return [{ file, place, specifier: String(node.source.value), typesAlone }];
  });
  const dynamic = module.dynamicImports.map(({ moduleRequest }) => {
    const specifier = source.slice(moduleRequest.start + 1, moduleRequest.end - 1);
    return { file, place, specifier, typesAlone: false };
  });
  return [...named, ...dynamic];
}

/** `import { type A, type B }`: none of the module's code runs. */
function namesTypesAlone(node: object): boolean {
  if (!('specifiers' in node) || !Array.isArray(node.specifiers) || node.specifiers.length === 0) return false;
  return node.specifiers.every(
    (specifier: { importKind?: string; exportKind?: string }) =>
      (specifier.importKind ?? specifier.exportKind) === 'type',
  );
}

/** The folder under src/, or a file directly in src/. */
function topOf(file: string): string {
  return (relative('src', file).split(sep)[0] ?? '').replace(/\.[jt]s$/, '');
}

/** `market/rules` or `platform/db`. Elsewhere, the folder or file directly in src/. */
function placeOf(file: string): string {
  const [top = '', next = ''] = relative('src', file).split(sep);
  return (top === 'market' || top === 'platform' ? `${top}/${next}` : top).replace(/\.[jt]s$/, '');
}

function isRelative({ specifier }: Import): boolean {
  return specifier.startsWith('.');
}

function targetOf({ file, specifier }: Import): string {
  return join(dirname(file), specifier);
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function sentence({ file, specifier }: Import): string {
  return `${file} imports ${specifier}`;
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
