/** The page of the playground: a bar that leads through the story, and GraphiQL under it. */

import { htmlPage } from '../../platform/http/pages/look.js';

export const FOLDER = '/graphql/playground';

// GraphiQL follows the system's colours until the user chooses others, and then marks the body; the bar does the same.
const STYLES = `
      body.graphiql-dark { color-scheme: dark; }
      body.graphiql-light { color-scheme: light; }
      html, body { height: 100%; margin: 0; }
      body { display: flex; flex-direction: column; }
      #root { flex: 1; min-height: 0; }
      .waiting { display: grid; place-items: center; height: 100%; }
      #guide { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: 10px 16px 0; }
      #guide :is(select, button) {
        font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 6px;
        padding: 4px 10px; min-width: 0;
      }
      #guide :focus-visible { outline: 2px solid var(--mark); }
      #guide :is(#guide-next, a) { border-color: var(--mark); color: var(--mark); }
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
      .graphiql-logo { display: flex; align-items: center; font-weight: 600; white-space: nowrap; }
      @media (max-width: 700px) {
        #guide { padding: 8px 8px 0; font-size: 14px; }
        #guide select { flex: 1; min-width: 160px; }
        #guide output { flex-basis: 45%; }
        #guide-text { height: 6em; }
        .graphiql-container { flex-direction: column-reverse !important; }
        .graphiql-container :is(.graphiql-sidebar, .graphiql-toolbar) {
          flex-direction: row !important; width: 100% !important;
        }
        .graphiql-container :is(.graphiql-main, #graphiql-session) { flex-direction: column; min-height: 0; }
        .graphiql-container .graphiql-sessions { margin: 8px !important; min-height: 0; }
        .graphiql-container #graphiql-session { overflow-y: auto; position: relative; }
        .graphiql-container :is(.graphiql-editors, .graphiql-response) { flex: none !important; height: 440px; }
        .graphiql-container .graphiql-horizontal-drag-bar, .graphiql-logo { display: none !important; }
        .graphiql-container .graphiql-query-editor { flex-direction: column-reverse; padding: 8px !important; }
        .graphiql-container .graphiql-query-editor > section { min-height: 0; }
      }
`;

// The package has its own page, with every script inline. This page can forbid inline scripts, shows its bar before
// GraphiQL has loaded, and does not change the address while the user types.
export const PAGE = htmlPage({
  title: 'Job Marketplace · GraphQL playground',
  head: `<link rel="stylesheet" href="${FOLDER}/graphiql.css" />`,
  styles: STYLES,
  body: `
    <script src="${FOLDER}/theme.js"></script>
    <nav id="guide" aria-label="The steps of the story">
      <button id="guide-back" type="button">Back</button>
      <select id="guide-step" aria-label="Step"></select>
      <button id="guide-next" type="button">Next</button>
      <output id="guide-who"></output>
      <output id="guide-answer"></output>
      <button id="guide-curl" type="button">Copy as cURL</button>
      <button id="guide-over" type="button" title="Brings back every tab as it was, and signs out">Start over</button>
      <a id="guide-job" href="/lifecycle" target="_blank" rel="noopener">Where is the job?</a>
      <p id="guide-text" aria-live="polite"></p>
    </nav>
    <div id="root"><p class="waiting">The playground is loading …</p></div>
    <noscript>The playground needs JavaScript; the API at this address does not.</noscript>
    <script src="${FOLDER}/graphiql.js" defer></script>
    <script src="${FOLDER}/start.js" type="module"></script>`,
});
