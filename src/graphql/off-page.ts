/** The page at /graphql where the playground is off: what this address is, and where the API is documented. */
import { openPages, type Pages } from '../http/pages.js';

export function openOffPage(): Pages {
  return openPages({ '/graphql': { contentType: 'text/html; charset=utf-8', read: async () => PAGE } });
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Job Marketplace · GraphQL</title>
    <link rel="icon" href="data:," />
    <style>
      body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
    </style>
  </head>
  <body>
    <h1>GraphQL</h1>
    <p>Programs send their operations here, by <code>POST</code> with <code>Content-Type: application/json</code>.
      The playground is off on this server.</p>
    <ul>
      <li><a href="/v1/docs">The REST reference</a>: each operation is there under its name in GraphQL,
        with what it takes and answers.</li>
      <li><a href="/lifecycle">The life of a job</a>: who may do what, in which state.</li>
      <li>The schema is the project’s file <code>schema/api.graphql</code>;
        <code>schema/clients.md</code> in the same folder is for developers of apps.</li>
    </ul>
  </body>
</html>
`;
