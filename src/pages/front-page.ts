/** The page at / for browsers: what this server is, where its pages are, and the first call to paste. */
import { HTML, htmlPage, ICON, ICON_FILES, TEXT_STYLES } from '../platform/http/pages/look.js';
import { openPages, type Pages } from '../platform/http/pages/pages.js';

export interface FrontPage {
  readonly playground: boolean;
  readonly demo?: DemoPeople | undefined;
}

/** Everybody who can log in to a demonstration, by what they are. */
export interface DemoPeople {
  readonly password: string;
  readonly people: Readonly<Record<string, readonly string[]>>;
}

export function openFrontPage(settings: FrontPage): Pages {
  return openPages({
    '/': { contentType: HTML, read: async () => frontPage(settings) },
    '/front.js': { contentType: 'text/javascript; charset=utf-8', read: async () => SCRIPT },
    ...ICON_FILES,
  });
}

const STYLES = `${TEXT_STYLES}
      .pages { display: grid; grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); gap: 16px; margin: 24px 0; }
      .pages a {
        border: 1px solid var(--line); border-radius: 9px; padding: 14px 16px; background: var(--card);
        color: var(--ink); text-decoration: none;
      }
      .pages a:is(:hover, :focus-visible) { border-color: var(--mark); outline: none; }
      .pages b { display: block; color: var(--mark); font-size: 17px; }
      dl { display: grid; grid-template-columns: auto 1fr; gap: 4px 20px; margin: 8px 0; }
      dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
      .call { position: relative; }
      .call button {
        position: absolute; top: 8px; right: 8px; font: 13px system-ui, sans-serif; color: var(--mark);
        background: var(--paper); border: 1px solid var(--edge); border-radius: 6px; padding: 4px 10px;
      }
      .call pre { white-space: pre-wrap; overflow-wrap: anywhere; padding-right: 88px; }
`;

export function frontPage({ playground, demo }: FrontPage): string {
  const body = `
    <main>
      <h1>${ICON} Job Marketplace</h1>
      <p>Homeowners post jobs, contractors bid on them, and disputes end fairly. Everything can be done through
        GraphQL and through REST: both are thin layers over the same operations.</p>
      <nav class="pages" aria-label="Pages">
        ${playground ? link('/graphql', 'Playground', 'GraphQL in the browser, with two stories to play through.') : ''}
        ${link('/v1/docs', 'REST reference', 'Each operation, with what it takes and answers, to try out here.')}
        ${link('/lifecycle', 'The life of a job', 'A picture of who may do what, in which state, and what follows.')}
      </nav>
      ${demo ? peopleOf(demo) : ''}
      <h2>The first call</h2>
      <p>Sign up as a homeowner, from a shell. The answer has an access token, for the header
        <code>Authorization: Bearer …</code> of later calls.</p>
      <div class="call"><button type="button" hidden>Copy</button><pre>${FIRST_CALL}</pre></div>
      <h2>For programs</h2>
      <dl>
        <dt><a href="/v1">/v1</a></dt><dd>All addresses of REST</dd>
        <dt><a href="/v1/openapi.json">/v1/openapi.json</a></dt><dd>REST as OpenAPI 3.1, for generators of clients</dd>
        <dt>/graphql</dt><dd>GraphQL over HTTP and WebSockets; over server-sent events at /graphql/stream</dd>
        <dt><a href="/readyz">/readyz</a></dt><dd>Whether the server can be used; <a href="/healthz">/healthz</a> says
          whether it runs</dd>
      </dl>
    </main>
    <script src="/front.js" type="module"></script>`;
  return htmlPage({ title: 'Job Marketplace', styles: STYLES, body });
}

function link(address: string, name: string, text: string): string {
  return `<a href="${address}"><b>${name}</b>${text}</a>`;
}

function peopleOf({ password, people }: DemoPeople): string {
  const rows = Object.entries(people).map(([kind, emails]) => `<dt>${kind}</dt><dd>${emails.join(', ')}</dd>`);
  return `<h2>Who lives in this demonstration</h2>
      <p>Everybody’s password is <code>${password}</code>.</p>
      <dl>${rows.join('')}</dl>`;
}

const WRITTEN_ORIGIN = 'http://localhost:4000';

const FIRST_CALL = `export BASE=${WRITTEN_ORIGIN}
curl -sw '\\n' $BASE/v1/auth/signup/homeowner -H 'Content-Type: application/json' \\
  -d '{"email": "hanna.'$RANDOM'@example.com", "password": "a good password",
    "first_name": "Hanna", "last_name": "Hill"}'`;

/** The address is the one that the browser has, which behind a proxy the server does not know. */
const SCRIPT = `'use strict';
const [text, button] = ['.call pre', '.call button'].map((name) => document.querySelector(name));
text.textContent = text.textContent.replace('${WRITTEN_ORIGIN}', location.origin);
button.hidden = !navigator.clipboard;
button.onclick = async () => {
  await navigator.clipboard.writeText(text.textContent);
  button.textContent = 'Copied';
};
`;
