/** The REST reference at /v1/docs: Swagger UI over /v1/openapi.json, with every file from this server. */
import { readPageFile } from '../platform/http/pages/page-files.js';
import { HTML, htmlPage } from '../platform/http/pages/look.js';
import { openPages, type PageFile, type Pages } from '../platform/http/pages/pages.js';
import { SAMPLES_SCRIPT } from './openapi/samples.js';

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

/** Swagger UI in the colours of all pages, light and dark. */
const STYLES = `
      .waiting { text-align: center; padding: 4rem; }
      :root:root, #reference .swagger-ui { background: var(--paper); }
      #reference { font-family: system-ui, sans-serif; }
      #reference :is(
        .info :is(.title, p, li, h2, h3, td, th), .opblock-tag, .opblock .opblock-section-header h4,
        .opblock-summary-path, .opblock-summary-path *, .opblock-description-wrapper p, .tab li, .parameter__name,
        table thead tr :is(td, th), .response-col_status, .model, .model-title, label, section.models h4
      ) { font-family: system-ui, sans-serif; color: var(--ink); }
      #reference :is(.opblock-summary-description, .opblock-tag small, .parameter__type) { color: var(--faint); }
      #reference :is(.info a, .opblock-tag a, .renderedMarkdown a, .tab li.active button) { color: var(--mark); }
      #reference .renderedMarkdown code, #reference .info code {
        background: var(--card); color: var(--ink); border-radius: 4px;
      }
      #reference .scheme-container { background: var(--paper); box-shadow: none; padding: 0; }
      #reference .info { margin: 24px 0; }
      #reference :is(.opblock, section.models, section.models .model-container, .opblock-section-header) {
        background: var(--card); box-shadow: none;
      }
      #reference :is(.opblock, .opblock .opblock-summary, .opblock-tag, section.models) {
        border-color: var(--line);
      }
      #reference .opblock-summary-method { background: var(--by, #64748b); color: #fff; text-shadow: none; }
      #reference .opblock-get { --by: #1d4ed8; }
      #reference .opblock-post { --by: #c2410c; }
      #reference :is(.opblock-put, .opblock-patch) { --by: #7e22ce; }
      #reference .opblock-delete { --by: #b91c1c; }
      #reference .btn { box-shadow: none; }
      #reference .btn.execute { background: #c2410c; border-color: #c2410c; color: #fff; }
      #reference .btn.authorize, #reference .btn.authorize svg {
        border-color: var(--mark); color: var(--mark); fill: var(--mark);
      }
      #reference :is(input, select, textarea, .filter .operation-filter-input) {
        background-color: var(--box); color: var(--ink); border: 1px solid var(--edge); border-radius: 6px;
      }
`;

const BODY = `
    <div id="reference"><p class="waiting">The reference is loading …</p></div>
    <noscript>The reference needs JavaScript; <a href="/v1/openapi.json">what it shows</a> does not.</noscript>
    <script src="${FOLDER}/swagger-ui-bundle.js" defer></script>
    <script src="${FOLDER}/start.js" defer></script>`;

const PAGE_FILE: PageFile = {
  contentType: HTML,
  read: async () =>
    htmlPage({
      title: 'Job Marketplace · REST reference',
      head: `<link rel="stylesheet" href="${FOLDER}/swagger-ui.css" />`,
      styles: STYLES,
      body: BODY,
    }),
};

/**
 * After a log-in on the page, later calls use its token, so that users need not copy it. Calls go to where the page is
 * from, since its policy allows no other address, and a server behind a proxy may not know its own. Without a
 * validatorUrl of null, Swagger UI would send the description to a server of its authors.
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
    const { pathname, search } = new URL(request.url, location.href);
    request.url = location.origin + pathname + search;
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
