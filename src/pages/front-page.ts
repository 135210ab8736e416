/** The page that browsers get at /: what this server is, links to its pages, and a first request to copy. */
import { HTML, htmlPage, ICON_FILES, TEXT_STYLES, type SiteLinks } from '../platform/http/pages/look.js';
import { openPages, type Pages } from '../platform/http/pages/pages.js';

export interface FrontPage {
  readonly playground: boolean;
  readonly mailbox: boolean;
  /** True if this server sends emails or keeps them in the mailbox. */
  readonly mail: boolean;
  readonly demo?: DemoPeople | undefined;
}

export interface DemoPeople {
  readonly password: string;
  readonly people: Readonly<Record<string, readonly string[]>>;
}

export function siteLinks({ playground, mailbox }: Pick<FrontPage, 'playground' | 'mailbox'>): SiteLinks {
  return {
    '/': 'Job Marketplace',
    ...(playground && { '/graphql': 'Playground' }),
    '/v1/docs': 'REST',
    '/lifecycle': 'Life of a job',
    ...(mailbox && { '/mailbox': 'Mailbox' }),
  };
}

export function openFrontPage(settings: FrontPage): Pages {
  return openPages({
    '/': { contentType: HTML, read: async () => frontPage(settings) },
    '/front.js': { contentType: 'text/javascript; charset=utf-8', read: async () => SCRIPT },
    ...ICON_FILES,
  });
}

const STYLES = `${TEXT_STYLES}
      .lead { font-size: 18px; max-width: 40em; margin: 0 0 28px; }
      .pages { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 16px; }
      .pages a {
        border: 1px solid var(--line); border-radius: 8px; padding: 16px 20px; background: var(--card);
        color: var(--ink); text-decoration: none;
      }
      .pages a:hover { border-color: var(--mark); }
      .pages b { display: block; color: var(--mark); font-size: 17px; }
      dl { display: grid; grid-template-columns: max-content 1fr; gap: 8px 24px; margin: 8px 0; }
      dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
      @media (max-width: 600px) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 8px; } }
      .call { position: relative; }
      .call button {
        position: absolute; top: 8px; right: 8px; font: 13px system-ui, sans-serif; color: var(--mark);
        background: var(--paper); border: 1px solid var(--edge); border-radius: 6px; padding: 4px 10px;
      }
      .call pre { white-space: pre-wrap; overflow-wrap: anywhere; padding-right: 88px; }
`;

export function frontPage(settings: FrontPage): string {
  const { playground, mailbox, mail, demo } = settings;
  const body = `
    <main>
      <h1>Job Marketplace</h1>
      <p class="lead">Homeowners post jobs, contractors bid on them, and disputes end fairly. Use GraphQL or REST:
        both APIs offer the same operations.</p>
      <nav class="pages" aria-label="Start here">
        ${playground ? link('/graphql', 'Playground', 'Try GraphQL in the browser, step by step.') : ''}
        ${link('/v1/docs', 'REST reference', 'Look up every REST operation, and try it on the page.')}
        ${link('/lifecycle', 'The life of a job', 'See every state of a job, and who can move it to the next one.')}
        ${mailbox ? link('/mailbox', 'Mailbox', 'Read the emails that this server would send.') : ''}
      </nav>
      ${mail ? '<p>Forgot your password? <a href="/reset-password">Reset it</a>.</p>' : ''}
      ${demo ? peopleOf(demo) : ''}
      <h2>Your first request</h2>
      <p>Sign up as a homeowner from a shell. The response has an access token. Send it with later requests, in the
        header <code>Authorization: Bearer …</code>.</p>
      <div class="call"><button type="button" hidden>Copy</button><pre>${FIRST_CALL}</pre></div>
      <h2>For programs</h2>
      <dl>
        <dt><a href="/v1">/v1</a></dt><dd>Every REST path and its methods</dd>
        <dt><a href="/v1/openapi.json">/v1/openapi.json</a></dt><dd>OpenAPI 3.1 document, for client generators</dd>
        <dt>/graphql</dt><dd>GraphQL over HTTP and WebSockets</dd>
        <dt>/graphql/stream</dt><dd>GraphQL over server-sent events</dd>
        <dt><a href="/readyz">/readyz</a></dt><dd>Whether the server is ready for requests</dd>
        <dt><a href="/healthz">/healthz</a></dt><dd>Whether the server is running</dd>
      </dl>
    </main>
    <script src="/front.js" type="module"></script>`;
  return htmlPage({ title: 'Job Marketplace', styles: STYLES, body, links: siteLinks(settings) });
}

function link(address: string, name: string, text: string): string {
  return `<a href="${address}"><b>${name}</b>${text}</a>`;
}

function peopleOf({ password, people }: DemoPeople): string {
  const rows = Object.entries(people).map(([kind, emails]) => `<dt>${kind}</dt><dd>${emails.join(', ')}</dd>`);
  return `<h2>Who you can log in as</h2>
      <p>This is a demonstration. Everyone’s password is <code>${password}</code>.</p>
      <dl>${rows.join('')}</dl>`;
}

const WRITTEN_ORIGIN = 'http://localhost:4000';

const FIRST_CALL = `export BASE=${WRITTEN_ORIGIN}
curl -sw '\\n' $BASE/v1/auth/signup/homeowner -H 'Content-Type: application/json' \\
  -d '{"email": "hanna.'$RANDOM'@example.com", "password": "a good password",
    "first_name": "Hanna", "last_name": "Hill"}'`;

/** Shows the origin that the browser uses. Behind a proxy, the server doesn't know it. */
const SCRIPT = `'use strict';
const [text, button] = ['.call pre', '.call button'].map((name) => document.querySelector(name));
text.textContent = text.textContent.replace('${WRITTEN_ORIGIN}', location.origin);
button.hidden = !navigator.clipboard;
button.onclick = async () => {
  await navigator.clipboard.writeText(text.textContent);
  button.textContent = 'Copied';
};
`;
