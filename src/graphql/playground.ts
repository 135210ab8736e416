/**
 * The page that a browser gets at /graphql: GraphiQL with tabs for two stories, a job that goes well and one that ends
 * in an appeal. All its files come from this server, and are loaded on the first request.
 */
import { createHash } from 'node:crypto';
import { readPageFile } from '../http/page-files.js';
import { openPages, type PageFile, type Pages } from '../http/pages.js';
import { SESSION_SCRIPT } from '../http/session-script.js';
import { GUIDE_SCRIPT } from './playground-guide.js';
import { MEMORY_SCRIPT } from './playground-memory.js';
import { FOLDER, LOGO, PAGE, PLAYGROUND_TITLE } from './playground-page.js';
import { STARTER_SCRIPT } from './playground-script.js';
import { STREAM_SCRIPT } from './playground-stream.js';
import { STARTER_STEPS, STARTER_TABS } from './playground-tabs.js';

export function openPlayground(): Pages {
  return openPages({
    '/graphql': { contentType: 'text/html; charset=utf-8', read: async () => PAGE },
    [`${FOLDER}/start.js`]: script(async () => startScript()),
    [`${FOLDER}/guide.js`]: script(async () => GUIDE_SCRIPT),
    [`${FOLDER}/memory.js`]: script(async () => MEMORY_SCRIPT),
    [`${FOLDER}/session.js`]: SESSION_SCRIPT,
    [`${FOLDER}/stream.js`]: script(async () => STREAM_SCRIPT),
    [`${FOLDER}/graphiql.css`]: { contentType: 'text/css; charset=utf-8', read: () => readPageFile('graphiql.css') },
    ...Object.fromEntries(PACKAGED.map((name) => [`${FOLDER}/${name}`, script(() => readPageFile(name))])),
  });
}

const PACKAGED = ['graphiql.js', 'editor.worker.js', 'json.worker.js', 'graphql.worker.js'] as const;

function script(read: () => Promise<string>): PageFile {
  return { contentType: 'text/javascript; charset=utf-8', read };
}

/** The script gets the contents of the tabs as data, under a name that changes with them. */
function startScript(): string {
  const edition = createHash('sha256').update(JSON.stringify(STARTER_TABS)).digest('hex').slice(0, 8);
  const settings = {
    folder: FOLDER,
    title: PLAYGROUND_TITLE,
    logo: LOGO,
    edition,
    tabs: STARTER_TABS,
    steps: STARTER_STEPS,
  };
  return STARTER_SCRIPT.replace('SETTINGS', () => JSON.stringify(settings));
}
