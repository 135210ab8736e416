/** The REST reference at /v1/docs: Swagger UI over /v1/openapi.json, next to a list of operations. */
import { readPageFile } from '../platform/http/pages/page-files.js';
import { HTML, htmlPage, type SiteLinks } from '../platform/http/pages/look.js';
import { openPages, type Pages } from '../platform/http/pages/pages.js';
import { SAMPLES_SCRIPT } from './openapi/samples.js';

export function openReference(links: SiteLinks): Pages {
  const page = { contentType: HTML, read: async () => referencePage(links) };
  return openPages({
    [FOLDER]: page,
    [`${FOLDER}/`]: page,
    // Every REST path also works without `/v1`.
    '/docs': page,
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

/** Gives Swagger UI the pages' colors, light and dark. */
const STYLES = `
      .docs { display: grid; grid-template-columns: 300px minmax(0, 1fr); max-width: 1440px; margin: 0 auto; }
      .content { padding: 24px 32px; }
      h1 { font-size: 28px; margin: 0 0 4px; }
      .content:not(.conventions) .information-container, .servers-title, .servers { display: none; }
      .conventions :is(.scheme-container, #operations), .info .main { display: none; }
      .content:not(.conventions) h2 { position: absolute; clip-path: inset(50%); }
      #menu {
        position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 24px 0 24px 24px;
      }
      #menu > summary { display: none; }
      #menu input { width: 100%; height: 38px; padding: 0 12px; font: inherit; margin-bottom: 12px; }
      #menu details summary { padding: 5px 0; font-weight: 600; cursor: pointer; }
      #menu a {
        display: grid; grid-template-columns: 1fr auto; gap: 8px; padding: 4px 8px 4px 16px; color: var(--ink);
        font-size: 14px; text-decoration: none; border-radius: 6px;
      }
      #menu a:hover, #menu a[aria-current] { background: var(--card); color: var(--mark); }
      #menu a b { font: 600 11px/21px ui-monospace, monospace; color: var(--by); }
      [hidden] { display: none !important; }
      .waiting { padding: 48px 0; }
      @media (max-width: 900px) {
        .docs { display: block; }
        #menu { position: static; max-height: none; padding: 12px 16px 0; }
        #menu > summary { display: list-item; padding: 6px 0; color: var(--mark); font-weight: 600; }
        .content { padding: 12px 16px; }
        #reference .opblock-body { overflow-x: auto; }
      }
      :root:root, #reference .swagger-ui { background: var(--paper); }
      #reference { font-family: system-ui, sans-serif; }
      #reference :is(
        .info :is(.title, p, li, h2, h3, td, th), .opblock-tag, .opblock .opblock-section-header h4,
        .opblock-summary-path, .opblock-summary-path *, .opblock-description-wrapper p, .tab li, .parameter__name,
        table thead tr :is(td, th), .header-col, .response-col_status, .model, .model-title, label, section.models h4
      ) { font-family: system-ui, sans-serif; color: var(--ink); }
      #reference :is(.opblock-summary-description, .opblock-tag small, .parameter__type, .parameter__in) {
        color: var(--faint);
      }
      #reference :is(.info a, .renderedMarkdown a, .tab li.active button) { color: var(--mark); }
      #reference .renderedMarkdown code, #reference .info code {
        background: var(--card); color: var(--ink); border-radius: 4px;
      }
      #reference .scheme-container { background: var(--paper); box-shadow: none; margin: 0; padding: 0; }
      #reference :is(.wrapper, .scheme-container .schemes) { padding: 0; }
      #reference .scheme-container .schemes .auth-wrapper { margin-left: auto; }
      #reference .opblock { margin: 0 0 6px; }
      #reference .opblock-tag { padding: 8px 0; font-size: 20px; }
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
      #reference textarea { font-weight: 400; }
      #reference .btn { box-shadow: none; }
      #reference .btn.cancel { border-color: var(--edge); color: var(--ink); }
      #reference .btn.cancel:hover { background: var(--box); }
      #reference .btn.execute { background: #c2410c; border-color: #c2410c; color: #fff; }
      #reference .btn.authorize, #reference .btn.authorize svg {
        border-color: var(--mark); color: var(--mark); fill: var(--mark);
      }
      #reference .microlight [style*='211, 99, 99'] { color: #ff9d9d !important; }
      #reference .opblock :is(.opblock-section-header, .opblock-body, tr, td, th) { border-color: var(--line); }
      #reference .tab-header .tab-item.active h4 span::after { background: var(--mark); }
      :is(#reference, #menu) :is(input, select, textarea, .filter .operation-filter-input) {
        background-color: var(--box); color: var(--ink); border: 1px solid var(--edge); border-radius: 6px;
      }
`;

const referencePage = (links: SiteLinks) =>
  htmlPage({
    title: 'Job Marketplace · REST reference',
    head: `<link rel="stylesheet" href="${FOLDER}/swagger-ui.css" />`,
    styles: STYLES,
    links,
    path: FOLDER,
    body: `
    <div class="docs">
      <details id="menu" open>
        <summary>All operations</summary>
        <nav aria-label="Operations">
          <input type="search" placeholder="Search operations" aria-label="Search operations" />
          <a href="#conventions">Conventions</a>
        </nav>
      </details>
      <div class="content">
        <section aria-labelledby="title">
        <h1 id="title">REST reference</h1>
        <p>Open an operation to see its input, responses, and errors, and to try it.
          <a href="#conventions">Read the conventions</a> for all operations, or get the
          <a href="/v1/openapi.json">OpenAPI document</a>.</p>
        <h2>Operations</h2>
        </section>
        <div id="reference">
          <p class="waiting">Loading the reference… If this text doesn’t go away, reload the page.</p>
        </div>
        <noscript>The reference needs JavaScript. The OpenAPI document doesn’t.</noscript>
      </div>
    </div>
    <script src="${FOLDER}/swagger-ui-bundle.js" defer></script>
    <script src="${FOLDER}/start.js" type="module"></script>`,
  });

/**
 * After a login on the page, later requests use its token. They go to the page's own origin, because its policy allows
 * no other and a proxy may hide the server's origin. Setting validatorUrl to null keeps Swagger UI from sending the
 * document to its authors' server.
 */
const START_SCRIPT = `'use strict';
let token;
${SAMPLES_SCRIPT}
function noteToken(response) {
  if (response.ok) noteIdentifiers(response.text);
  if (response.ok && typeof response.body?.token === 'string') token = response.body.token;
  return response;
}

function addToken(request) {
  const { pathname, search } = new URL(request.url, location.href);
  request.url = location.origin + pathname + search;
  fillIn(request);
  const isNamed = Object.keys(request.headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
  if (token && !isNamed) request.headers = { ...request.headers, Authorization: 'Bearer ' + token };
  return request;
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followSystem);
followSystem();

const spec = await (await fetch('/v1/openapi.json')).json();
const menu = document.querySelector('#menu');
// A path has no entries but its operations.
const operations = Object.values(spec.paths).flatMap((path) =>
  Object.entries(path).map(([method, { operationId: id, summary, tags }]) => ({ id, method, summary, tag: tags[0] })),
);

const ui = SwaggerUIBundle({
  spec,
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  requestInterceptor: addToken,
  responseInterceptor: noteToken,
});

function element(name, properties, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function linkTo({ id, method, summary }) {
  const verb = element('b', { className: 'opblock-' + method }, method === 'delete' ? 'DEL' : method.toUpperCase());
  return element('a', { href: '#' + id }, summary, verb);
}

for (const { name } of spec.tags) {
  const links = operations.filter(({ tag }) => tag === name).map(linkTo);
  menu.querySelector('nav').append(element('details', {}, element('summary', {}, name), ...links));
}

let isShown = false;

/** Names what Swagger UI leaves without a name, and makes its examples scrollable by keyboard. */
function addNames() {
  if (!isShown && document.querySelector('.opblock')) {
    isShown = true;
    openHash();
  }
  const reference = document.querySelector('#reference');
  for (const field of reference.querySelectorAll(':is(select, textarea, input):not([aria-label])')) {
    const parameter = field.closest('tr[data-param-name]')?.dataset.paramName;
    field.ariaLabel = field.matches('textarea') ? 'Request body' : (parameter ?? 'Example');
  }
  for (const example of reference.querySelectorAll('pre:not([tabindex])')) example.tabIndex = 0;
  const conventions = reference.querySelector('.information-container:not([role])');
  conventions?.setAttribute('role', 'main');
  conventions?.setAttribute('aria-label', 'Conventions');
}

const groups = [...menu.querySelectorAll('nav details')];
menu.querySelector('input').oninput = ({ target: { value } }) => {
  for (const group of groups) {
    const links = [...group.querySelectorAll('a')];
    for (const link of links)
      link.hidden = !(link.textContent + link.hash).toLowerCase().includes(value.trim().toLowerCase());
    group.hidden = links.every(({ hidden }) => hidden);
    group.open = value !== '';
  }
};

/** “#createJob” opens that operation. */
function openHash() {
  // Older links name the tag too: “#/Jobs/createJob”.
  const hash = location.hash.replace(/^#.*\\//, '#');
  const found = operations.find(({ id }) => '#' + id === hash);
  for (const link of menu.querySelectorAll('nav a')) {
    link.ariaCurrent = link.hash === hash ? 'true' : null;
    if (link.ariaCurrent) link.parentElement.open = true;
  }
  const isPreface = hash === '#conventions';
  document.querySelector('.content').classList.toggle('conventions', isPreface);
  document.querySelector('.content h2').textContent = isPreface ? 'Conventions' : 'Operations';
  if (isNarrow.matches && hash) menu.open = false;
  if (!found) return;
  ui.layoutActions.show(['operations', found.tag, found.id], true);
  document.getElementById(['operations', found.tag, found.id].join('-').replaceAll(' ', '_'))?.scrollIntoView();
}

const isNarrow = matchMedia('(max-width: 900px)');
const followWidth = () => (menu.open = !isNarrow.matches);
isNarrow.onchange = followWidth;
followWidth();
groups[0].open = true;
addEventListener('hashchange', openHash);
new MutationObserver(addNames).observe(document.querySelector('#reference'), { subtree: true, childList: true });
addNames();
`;
