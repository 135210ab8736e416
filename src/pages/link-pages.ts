/**
 * The pages that links in emails open, except those to unsubscribe (`unsubscribe.ts`). Link scanners open every link,
 * so only the form on the page changes anything. The token follows `#`, so browsers don't send it to the server.
 */
import type { LinkPage } from '../market/rules/people/mail-kinds.js';
import { escapeHtml, HTML, htmlPage, TEXT_STYLES, type SiteLinks } from '../platform/http/pages/look.js';
import { openPages, type PageFile, type Pages } from '../platform/http/pages/pages.js';

interface Form {
  readonly title: string;
  /** The path to which the script sends the form's fields and the token. */
  readonly path: string;
  readonly text: string;
  readonly fields?: string;
  readonly button: string;
  /** The next steps as HTML: after success, and for a link that doesn't work. */
  readonly whenDone?: string;
  readonly whenRefused?: string;
}

const EMAIL = '<label>Email <input name="email" type="email" autocomplete="username" required autofocus /></label>';
const NEW_PASSWORD = `<label>New password
          <input name="new_password" type="password" autocomplete="new-password" minlength="8" required autofocus />
        </label>
        <p class="faint">Use at least eight characters.</p>`;

const RESET = '<a href="/reset-password">Set a new password</a>';

const formsOf = (logIn: string): Readonly<Record<LinkPage, Form>> => ({
  '/reset-password': {
    title: 'Set a new password',
    path: '/v1/auth/password-reset/confirm',
    text: 'This logs out all your devices, revokes your API keys, and pauses your webhooks.',
    fields: NEW_PASSWORD,
    button: 'Set the password',
    whenDone: `${logIn} and log in with your new password.`,
  },
  '/verify-email': {
    title: 'Confirm your email address',
    path: '/v1/auth/verify-email',
    text: 'Confirm that this email address is yours. Your account will use it.',
    button: 'Confirm',
    whenDone: `${logIn}.`,
    whenRefused: `${logIn}, log in, and request a new link or choose another address in your account.`,
  },
  '/undo-email-change': {
    title: 'Take your account back',
    path: '/v1/auth/undo-email-change',
    text:
      'This returns your account to this email address and logs out all devices. Your old password stops working. ' +
      'We’ll send you a link to set a new one. If someone used the account after the change, our support team must ' +
      'decide first.',
    button: 'Take my account back',
    whenDone: `Didn’t get the email? <a href="/reset-password">Request another link</a>.`,
    whenRefused: `${RESET} if your account already has this address again. Otherwise, contact our support team.`,
  },
});

/** Replaces a form whose link is missing or doesn't work. */
const REQUEST_LINK: Omit<Form, 'title'> = {
  path: '/v1/auth/password-reset',
  text: 'Enter your email address. If an account uses it, we’ll send you a link to set a new password.',
  fields: EMAIL,
  button: 'Send me a link',
};

/** `appOrigin` is where people log in. By default, that's this server. */
export function openLinkPages(links: SiteLinks, appOrigin = '/'): Pages {
  const logIn = `<a href="${escapeHtml(appOrigin)}">Continue to Job Marketplace</a>`;
  const pages = Object.entries(formsOf(logIn)).map(([path, form]): [string, PageFile] => [
    path,
    { contentType: HTML, isPrivate: true, read: async () => linkPage(form, links) },
  ]);
  const script = { contentType: 'text/javascript; charset=utf-8', read: async () => SCRIPT };
  return openPages({ ...Object.fromEntries(pages), '/links.js': script });
}

function linkPage(form: Form, links: SiteLinks): string {
  const body = `
    <main>
      <h1>${form.title}</h1>
      ${formHtml(form, 'with-link')}
      ${formHtml(REQUEST_LINK, 'without-link')}
      <p id="outcome" role="status">Loading… If this text doesn’t go away, turn on JavaScript or reload the page.</p>
      <p id="done" hidden>${form.whenDone ?? ''}</p>
      <p id="refused" hidden>${form.whenRefused ?? ''}</p>
    </main>
    <script src="/links.js" type="module"></script>`;
  return htmlPage({ title: form.title, styles: STYLES, body, links });
}

function formHtml({ path, text, fields = '', button }: Omit<Form, 'title'>, id: string): string {
  return `<form id="${id}" data-path="${path}" hidden>
        <p>${text}</p>
        ${fields}
        <button>${button}</button>
      </form>`;
}

const STYLES = `${TEXT_STYLES}
      main { max-width: 480px; }
      label { display: block; font-weight: 600; margin: 16px 0 4px; }
      input {
        display: block; width: 100%; margin-top: 4px; padding: 10px 12px; font: inherit;
        color: var(--ink); background: var(--box); border: 1px solid var(--edge); border-radius: 6px;
      }
      button {
        margin: 12px 0; padding: 10px 18px; font: inherit; font-weight: 600; color: #fff; background: #b93a08;
        border: 0; border-radius: 6px; cursor: pointer;
      }
      button:disabled { opacity: 0.6; }
      #outcome.bad { color: light-dark(#b91c1c, #fca5a5); }
`;

const SCRIPT = String.raw`'use strict';
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const [withLink, withoutLink, outcome, done, refused] =
  ['with-link', 'without-link', 'outcome', 'done', 'refused'].map((id) => document.getElementById(id));
const asksForPassword = withLink.dataset.path.includes('password');
// Another email's link to this page, opened in the same tab, doesn't load the page again.
addEventListener('hashchange', () => location.reload());
say('');
if (token) withLink.hidden = false;
else if (asksForPassword) withoutLink.hidden = false;
else refuse('This link is incomplete. Open it from the email again.');

async function send(form) {
  const input = Object.fromEntries(new FormData(form));
  if (form === withLink) input.token = token;
  const response = await fetch(form.dataset.path, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(input),
  });
  const answer = await response.json();
  if (response.ok) {
    form.hidden = true;
    done.hidden = form !== withLink || answer.pending === true;
    return say(answer.message, true);
  }
  say(Object.entries(answer.details?.fields ?? {})
    .map(([name, problem]) => 'The ' + name.replaceAll('_', ' ') + ' ' + problem + '.').join(' ') || answer.error);
  const code = answer.details?.code;
  if (code !== 'INVALID_LINK' && code !== 'EMAIL_TAKEN') return;
  // A taken address may become free again. The link then works after a reload.
  if (code === 'INVALID_LINK') history.replaceState(null, '', location.pathname);
  withLink.hidden = true;
  withoutLink.hidden = !asksForPassword;
  refused.hidden = asksForPassword;
}

function refuse(text) {
  say(text);
  refused.hidden = false;
}

function say(text, isGood = false) {
  outcome.className = isGood ? '' : 'bad';
  outcome.textContent = text;
}

for (const form of [withLink, withoutLink])
  form.onsubmit = async (event) => {
    event.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    await send(form).catch(() => say('The server can’t be reached. Try again.'));
    button.disabled = false;
  };
`;
