/** The page at /graphql if the playground is off. It links to the API's documentation. */
import { HTML, htmlPage, TEXT_STYLES, type SiteLinks } from '../../platform/http/pages/look.js';
import { openPages, type Pages } from '../../platform/http/pages/pages.js';

export function openOffPage(links: SiteLinks): Pages {
  const read = async () => htmlPage({ title: 'Job Marketplace · GraphQL', styles: TEXT_STYLES, body: BODY, links });
  return openPages({ '/graphql': { contentType: HTML, read } });
}

const BODY = `
    <main>
      <h1>GraphQL</h1>
      <p>Programs send GraphQL operations to this address: <code>POST</code> with
        <code>Content-Type: application/json</code>. The playground is off on this server.</p>
      <ul>
        <li><a href="/v1/docs">REST reference</a>: every operation, with its GraphQL name</li>
        <li><a href="/lifecycle">The life of a job</a>: who can do what, in which state</li>
        <li>The schema: <code>schema/api.graphql</code> in the project</li>
        <li>A guide for app developers: <code>docs/clients.md</code> in the project</li>
      </ul>
    </main>`;
