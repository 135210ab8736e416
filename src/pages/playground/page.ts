import { htmlPage, type SiteLinks } from '../../platform/http/pages/look.js';

export const FOLDER = '/graphql/playground';

// GraphiQL follows the system's colors until the user chooses others. It then marks the body, and the guide follows
// that mark.
const STYLES = `
      body.graphiql-dark { color-scheme: dark; }
      body.graphiql-light { color-scheme: light; }
      html, body { height: 100%; margin: 0; }
      body, main { display: flex; flex-direction: column; }
      main, #root { flex: 1; min-height: 0; }
      h1 { position: absolute; clip-path: inset(50%); }
      .waiting { display: grid; place-items: center; height: 100%; }
      #guide { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: 10px 24px 0; }
      #guide :is(select, button) {
        font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: 6px;
        padding: 4px 10px; min-width: 0;
      }
      #guide #guide-next { border-color: var(--mark); color: var(--mark); }
      #guide button:disabled { opacity: 0.4; }
      #guide output { color: var(--faint); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      #guide-who { margin-left: 8px; }
      #guide-answer { margin-left: auto; }
      #guide-text { flex-basis: 100%; margin: 0; height: 4.5em; overflow: auto; }
      .graphiql-container { width: 100% !important; height: 100% !important; }
      .graphiql-container, .graphiql-dialog, [data-radix-popper-content-wrapper] {
        --color-primary: 17, 88%, 40% !important; --font-family: system-ui, sans-serif !important;
      }
      body.graphiql-dark :is(.graphiql-container, .graphiql-dialog) {
        --color-primary: 27, 96%, 61% !important; --color-base: 220, 28%, 13% !important;
      }
      @media (prefers-color-scheme: dark) {
        body:not(.graphiql-light) :is(.graphiql-container, .graphiql-dialog) {
          --color-primary: 27, 96%, 61% !important; --color-base: 220, 28%, 13% !important;
        }
      }
      .graphiql-tab[hidden] { display: none; }
      .graphiql-response { position: relative; }
      .graphiql-response[data-coming]::before {
        content: attr(data-coming); position: absolute; inset: 48px 32px auto; color: var(--faint); z-index: 1;
      }
      .graphiql-container .graphiql-tab { transform: none !important; }
      .graphiql-logo { display: none !important; }
      @media (max-width: 700px) {
        #guide { padding: 8px 12px 0; font-size: 14px; }
        #guide select { flex: 1; min-width: 160px; }
        #guide :is(output, button, a):not(#guide-back, #guide-next) { order: 1; }
        #guide output { flex: 1 0 40%; margin: 0; }
        #guide-answer { text-align: right; }
        #guide :is(button, a):not(#guide-back, #guide-next) { font-size: 13px; }
        #guide-text { height: auto; }
        .graphiql-container { flex-direction: column-reverse !important; }
        .graphiql-container :is(.graphiql-sidebar, .graphiql-toolbar) {
          flex-direction: row !important; width: 100% !important;
        }
        .graphiql-container :is(.graphiql-main, #graphiql-session) { flex-direction: column; min-height: 0; }
        .graphiql-container .graphiql-sessions { margin: 8px !important; min-height: 0; }
        .graphiql-container #graphiql-session { overflow-y: auto; position: relative; }
        .graphiql-container :is(.graphiql-editors, .graphiql-response) { flex: none !important; height: 400px; }
        .graphiql-container .graphiql-horizontal-drag-bar { display: none !important; }
        .graphiql-container .graphiql-query-editor { flex-direction: column-reverse; padding: 8px !important; }
        .graphiql-container .graphiql-query-editor > section { min-height: 0; }
      }
`;

// GraphiQL's own page has inline scripts. This page forbids them, shows the guide before GraphiQL has loaded, and keeps
// its URL while the user types.
export const playgroundPage = (links: SiteLinks) =>
  htmlPage({
    links,
    path: '/graphql',
    title: 'Job Marketplace · GraphQL playground',
    head: `<link rel="stylesheet" href="${FOLDER}/graphiql.css" />`,
    styles: STYLES,
    body: `
    <script src="${FOLDER}/theme.js"></script>
    <main>
    <h1>GraphQL playground</h1>
    <nav id="guide" aria-label="Guide">
      <button id="guide-back" type="button">Back</button>
      <select id="guide-step" aria-label="Step"></select>
      <button id="guide-next" type="button">Next</button>
      <output id="guide-who"></output>
      <output id="guide-answer"></output>
      <button id="guide-curl" type="button">Copy as cURL</button>
      <button id="guide-over" type="button" title="Restores every tab and signs you out">Start over</button>
      <a id="guide-job" href="/lifecycle" target="_blank" rel="noopener">Where is the job?</a>
      <p id="guide-text" aria-live="polite"></p>
    </nav>
    <div id="root"><p class="waiting">Loading the playground… If this text doesn’t go away, reload the page.</p></div>
    </main>
    <noscript>The playground needs JavaScript. The API at this address doesn’t.</noscript>
    <script src="${FOLDER}/graphiql.js" defer></script>
    <script src="${FOLDER}/start.js" type="module"></script>`,
  });
