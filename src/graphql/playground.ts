/**
 * The page that a browser gets at /graphql: GraphiQL with tabs that tell the market's story from the sign-up to the
 * award. Everything it needs comes from this server. Nothing of it is loaded before somebody looks.
 */
import { readPageFile } from '../http/page-files.js';
import { openPages, type PageFile, type Pages } from '../http/pages.js';
import { STARTER_SCRIPT } from './playground-script.js';
import { STARTER_TABS } from './playground-tabs.js';

export const PLAYGROUND_TITLE = 'Job Marketplace';

export function openPlayground(): Pages {
  return openPages({
    '/graphql': { contentType: 'text/html; charset=utf-8', read: async () => PAGE },
    [`${FOLDER}/start.js`]: script(async () => startScript()),
    [`${FOLDER}/graphiql.css`]: { contentType: 'text/css; charset=utf-8', read: () => readPageFile('graphiql.css') },
    ...Object.fromEntries(SCRIPTS.map((name) => [`${FOLDER}/${name}`, script(() => readPageFile(name))])),
  });
}

const FOLDER = '/graphql/playground';

const SCRIPTS = ['graphiql.js', 'editor.worker.js', 'json.worker.js', 'graphql.worker.js'] as const;

function script(read: () => Promise<string>): PageFile {
  return { contentType: 'text/javascript; charset=utf-8', read };
}

const LOGO =
  '<svg viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="#c2410c" stroke-width="2" stroke-linejoin="round" stroke-linecap="round">' +
  '<path d="M3 11.5 12 4l9 7.5"/><path d="M5.5 10v10h13V10"/><path d="m9 15 2.2 2.2L15.5 13"/></svg>';

const ICON = `data:image/svg+xml,${encodeURIComponent(LOGO.replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" '))}`;

// The package has a page of its own, with every script inside: this one may forbid such scripts, is there before
// GraphiQL is, and keeps the address as it is while somebody types.
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${PLAYGROUND_TITLE} · GraphQL playground</title>
    <link rel="icon" href="${ICON}" />
    <link rel="stylesheet" href="${FOLDER}/graphiql.css" />
    <style>
      html, body, #root { height: 100%; margin: 0; }
      .waiting { font: 16px/1.5 system-ui, sans-serif; color: #667; display: grid; place-items: center; height: 100%; }
      .graphiql-container .graphiql-tab { transform: none !important; }
      .graphiql-logo { display: flex; align-items: center; font-weight: 600; white-space: nowrap; }
    </style>
  </head>
  <body>
    <div id="root"><p class="waiting">The playground is loading …</p></div>
    <noscript>The playground needs JavaScript; the API at this address does not.</noscript>
    <script src="${FOLDER}/graphiql.js" defer></script>
    <script src="${FOLDER}/start.js" defer></script>
  </body>
</html>
`;

/** What the tabs hold is handed to the script as data. */
function startScript(): string {
  const settings = { folder: FOLDER, title: PLAYGROUND_TITLE, logo: LOGO, tabs: STARTER_TABS };
  return STARTER_SCRIPT.replace('SETTINGS', () => JSON.stringify(settings));
}
