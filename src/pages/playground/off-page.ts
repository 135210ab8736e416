/** The page at /graphql where the playground is off: what this address is, and where the API is documented. */
import { HTML, htmlPage, ICON, TEXT_STYLES } from '../../platform/http/pages/look.js';
import { openPages, type Pages } from '../../platform/http/pages/pages.js';

export function openOffPage(): Pages {
  return openPages({ '/graphql': { contentType: HTML, read: async () => PAGE } });
}

const BODY = `
    <main>
      <h1>${ICON} GraphQL</h1>
      <p>Programs send their operations here, by <code>POST</code> with <code>Content-Type: application/json</code>.
        The playground is off on this server.</p>
      <ul>
        <li><a href="/v1/docs">The REST reference</a>: each operation is there under its name in GraphQL,
          with what it takes and answers.</li>
        <li><a href="/lifecycle">The life of a job</a>: who may do what, in which state.</li>
        <li>The schema is the project’s file <code>schema/api.graphql</code>;
          <code>docs/clients.md</code> in the same folder is for developers of apps.</li>
      </ul>
    </main>`;

const PAGE = htmlPage({ title: 'Job Marketplace · GraphQL', styles: TEXT_STYLES, body: BODY });
