/** The REST reference at /v1/docs: Swagger UI over /v1/openapi.json, with every file from this server. */
import { readPageFile } from '../http/page-files.js';
import { openPages, type PageFile, type Pages } from '../http/pages.js';
import { SAMPLES_SCRIPT } from './samples.js';

export function openReference(): Pages {
  return openPages({
    [FOLDER]: PAGE_FILE,
    [`${FOLDER}/`]: PAGE_FILE,
    // Every REST address is served without its version too.
    '/docs': PAGE_FILE,
    [`${FOLDER}/start.js`]: { contentType: JAVASCRIPT, read: async () => START_SCRIPT },
    [`${FOLDER}/swagger-ui-bundle.js`]: { contentType: JAVASCRIPT, read: () => readPageFile('swagger-ui-bundle.js') },
    [`${FOLDER}/swagger-ui.css`]: {
      contentType: 'text/css; charset=utf-8',
      read: () => readPageFile('swagger-ui.css'),
    },
  });
}

const FOLDER = '/v1/docs';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Job Marketplace · REST reference</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${FOLDER}/swagger-ui.css" />
    <style>
      body { margin: 0; }
      html { color-scheme: light dark; }
      .waiting { font: 16px/1.5 system-ui, sans-serif; color: #667; text-align: center; padding: 4rem; }
    </style>
  </head>
  <body>
    <div id="reference"><p class="waiting">The reference is loading …</p></div>
    <noscript>The reference needs JavaScript; <a href="/v1/openapi.json">what it shows</a> does not.</noscript>
    <script src="${FOLDER}/swagger-ui-bundle.js" defer></script>
    <script src="${FOLDER}/start.js" defer></script>
  </body>
</html>
`;

const PAGE_FILE: PageFile = { contentType: 'text/html; charset=utf-8', read: async () => PAGE };

/**
 * After a log-in on the page, later calls use its token, so that users need not copy it. Without a validatorUrl of
 * null, Swagger UI would send the description to a server of its authors.
 */
const START_SCRIPT = `'use strict';
(() => {
  let token;
${SAMPLES_SCRIPT}
  function noteToken(response) {
    if (response.ok && response.url?.includes('openapi.json') === false) noteIdentifiers(response.text);
    if (response.ok && typeof response.body?.token === 'string') token = response.body.token;
    return response;
  }

  function addToken(request) {
    if (!request.loadSpec) fillIn(request);
    const named = Object.keys(request.headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
    if (token && !named && !request.loadSpec)
      request.headers = { ...request.headers, Authorization: 'Bearer ' + token };
    return request;
  }

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', followSystem);
  followSystem();

  SwaggerUIBundle({
    url: '/v1/openapi.json',
    dom_id: '#reference',
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    validatorUrl: null,
    deepLinking: true,
    filter: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    requestInterceptor: addToken,
    responseInterceptor: noteToken,
  });
})();
`;
