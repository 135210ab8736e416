/**
 * GraphiQL's and Swagger UI's files for the server's pages. Their packages would be a quarter of an installation, so
 * only builds need them: `npm run build` copies the files next to this one.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const graphiql = () => import('@graphql-yoga/render-graphiql/graphiql');
const swagger = (name: string) => readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`), 'utf8');

const IN_PACKAGES = {
  'graphiql.js': async () => (await graphiql()).js,
  'graphiql.css': async () => (await graphiql()).css,
  'editor.worker.js': async () => (await graphiql()).editorWorkerService,
  'json.worker.js': async () => (await graphiql()).jsonWorker,
  'graphql.worker.js': async () => (await graphiql()).graphqlWorker,
  'swagger-ui-bundle.js': () => swagger('swagger-ui-bundle.js'),
  'swagger-ui.css': () => swagger('swagger-ui.css'),
} satisfies Record<string, () => Promise<string>>;

export type PageFileName = keyof typeof IN_PACKAGES;

const COPIES = new URL('./page-files/', import.meta.url);

/** Reads each file on its first request, because together they are nine megabytes. */
export async function readPageFile(name: PageFileName): Promise<string> {
  try {
    return await IN_PACKAGES[name]();
  } catch (error) {
    if (!isMissing(error)) throw error;
    return readFile(new URL(name, COPIES), 'utf8');
  }
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND')
  );
}

async function copyPageFiles(): Promise<void> {
  await mkdir(COPIES, { recursive: true });
  for (const [name, read] of Object.entries(IN_PACKAGES)) await writeFile(new URL(name, COPIES), await read());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await copyPageFiles();
