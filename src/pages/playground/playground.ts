/**
 * The playground that browsers get at /graphql: GraphiQL, with tabs for a job that goes well and a job that ends in an
 * appeal.
 */
import { HTML, type SiteLinks } from '../../platform/http/pages/look.js';
import { readPageFile } from '../../platform/http/pages/page-files.js';
import { openPages, type PageFile, type Pages } from '../../platform/http/pages/pages.js';
import { SESSION_SCRIPT } from '../session-script.js';
import { GUIDE_SCRIPT } from './guide.js';
import { MEMORY_SCRIPT } from './memory.js';
import { FOLDER, playgroundPage } from './page.js';
import { starterScript, THEME_SCRIPT } from './starter.js';
import { STREAM_SCRIPT } from './stream.js';

const PACKAGE_FILES = ['graphiql.js', 'editor.worker.js', 'json.worker.js', 'graphql.worker.js'] as const;

/** With `buying`, the guide also buys tokens. */
export function openPlayground(links: SiteLinks, options: { readonly buying: boolean }): Pages {
  return openPages({
    '/graphql': { contentType: HTML, read: async () => playgroundPage(links) },
    [`${FOLDER}/start.js`]: script(async () => starterScript(options)),
    [`${FOLDER}/theme.js`]: script(async () => THEME_SCRIPT),
    [`${FOLDER}/guide.js`]: script(async () => GUIDE_SCRIPT),
    [`${FOLDER}/memory.js`]: script(async () => MEMORY_SCRIPT),
    [`${FOLDER}/session.js`]: SESSION_SCRIPT,
    [`${FOLDER}/stream.js`]: script(async () => STREAM_SCRIPT),
    [`${FOLDER}/graphiql.css`]: { contentType: 'text/css; charset=utf-8', read: () => readPageFile('graphiql.css') },
    ...Object.fromEntries(PACKAGE_FILES.map((name) => [`${FOLDER}/${name}`, script(() => readPageFile(name))])),
  });
}

function script(read: () => Promise<string>): PageFile {
  return { contentType: 'text/javascript; charset=utf-8', read };
}
