/**
 * The pages that the links in mails lead to. Opening one changes nothing, since programs that look for harmful links
 * open them all: its form does. The token stands behind `#`, which no browser sends.
 */
import type { LinkPage } from '../market/rules/people/mail-kinds.js';
import { escapeHtml, HTML, htmlPage, ICON, TEXT_STYLES } from '../platform/http/pages/look.js';
import { openPages, type PageFile, type Pages } from '../platform/http/pages/pages.js';

interface Form {
  readonly title: string;
  /** Where the script sends what was filled in, with the token of the link. */
  readonly path: string;
  readonly text: string;
  readonly fields?: string;
  readonly button: string;
  /** What to do next, as HTML with a link: after success, and if the link doesn't work. */
  readonly whenDone?: string;
  readonly whenRefused?: string;
}

const EMAIL = '<label>Email <input name="email" type="email" autocomplete="username" required autofocus /></label>';
const NEW_PASSWORD = `<label>New password
          <input name="new_password" type="password" autocomplete="new-password" minlength="8" required autofocus />
        </label>
        <p class="faint">At least eight characters.</p>`;

const RESET = '<a href="/reset-password">Set a new password</a>';

const formsOf = (logIn: string): Readonly<Record<LinkPage, Form>> => ({
  '/reset-password': {
    title: 'Set a new password',
    path: '/v1/auth/password-reset/confirm',
    text: 'All devices are logged out by this, all API keys end, and webhooks are paused.',
    fields: NEW_PASSWORD,
    button: 'Set the password',
    whenDone: `${logIn} to log in with the new password.`,
  },
  '/verify-email': {
    title: 'Confirm your email address',
    path: '/v1/auth/verify-email',
    text: 'This address is then the address of your account.',
    button: 'Confirm',
    whenDone: `${logIn}.`,
    whenRefused: `${logIn}, log in, and request a new link from your account.`,
  },
  '/undo-email-change': {
    title: 'Take your account back',
    path: '/v1/auth/undo-email-change',
    text:
      'This changes your account back to this address. All devices are logged out, the old password no longer works, ' +
      'and we send you a link to set a new one. If the account was used after the change, support decides first.',
    button: 'Take my account back',
    whenDone: `Didn’t get the email? ${RESET} to get another link.`,
    whenRefused: `If the account already has this address again: ${RESET}. Otherwise, contact our support team.`,
  },
});

/** Where there is no link yet, or none that works. */
const REQUEST_LINK: Form = {
  title: 'Get a link by mail',
  path: '/v1/auth/password-reset',
  text: 'If an account has the address that you type, a mail with a link to set a new password goes there.',
  fields: EMAIL,
  button: 'Send me a link',
};

/** `appOrigin` is where people log in, if not on this server. */
export function openLinkPages(appOrigin = '/'): Pages {
  const logIn = `<a href="${escapeHtml(appOrigin)}">Continue to Job Marketplace</a>`;
  const pages = Object.entries(formsOf(logIn)).map(([path, form]): [string, PageFile] => [
    path,
    { contentType: HTML, isPrivate: true, read: async () => linkPage(form) },
  ]);
  const script = { contentType: 'text/javascript; charset=utf-8', read: async () => SCRIPT };
  return openPages({ ...Object.fromEntries(pages), '/links.js': script });
}

function linkPage(form: Form): string {
  const body = `
    <main>
      <p class="name">${ICON} Job Marketplace</p>
      ${formHtml(form, 'with-link')}
      ${formHtml(REQUEST_LINK, 'without-link')}
      <p id="outcome" role="status"></p>
      <p id="done" hidden>${form.whenDone ?? ''}</p>
      <p id="refused" hidden>${form.whenRefused ?? ''}</p>
    </main>
    <script src="/links.js" type="module"></script>`;
  return htmlPage({ title: form.title, styles: STYLES, body });
}

function formHtml({ title, path, text, fields = '', button }: Form, id: string): string {
  return `<form id="${id}" data-path="${path}" hidden>
        <h1>${title}</h1>
        <p>${text}</p>
        ${fields}
        <button>${button}</button>
      </form>`;
}

const STYLES = `${TEXT_STYLES}
      main { max-width: 480px; }
      .name { display: flex; gap: 8px; align-items: center; color: var(--mark); font-weight: 600; }
      label { display: block; font-weight: 600; margin: 16px 0 4px; }
      input {
        display: block; box-sizing: border-box; width: 100%; margin-top: 4px; padding: 10px 12px; font: inherit;
        color: var(--ink); background: var(--box); border: 1px solid var(--edge); border-radius: 6px;
      }
      button {
        margin: 12px 0; padding: 10px 18px; font: inherit; font-weight: 600; color: #fff; background: #c2410c;
        border: 0; border-radius: 6px; cursor: pointer;
      }
      button:disabled { opacity: 0.6; }
      :focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
      #outcome.bad { color: light-dark(#b91c1c, #fca5a5); }
`;

const SCRIPT = String.raw`'use strict';
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const [withLink, withoutLink, outcome, done, refused] =
  ['with-link', 'without-link', 'outcome', 'done', 'refused'].map((id) => document.getElementById(id));
const asksForPassword = withLink.dataset.path.includes('password');
if (token) withLink.hidden = false;
else if (asksForPassword) withoutLink.hidden = false;
else refuse('This link is not complete. Open it from the email again.');

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
  if (answer.details?.code !== 'INVALID_LINK') return;
  history.replaceState(null, '', location.pathname);
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
    await send(form).catch(() => say('The server cannot be reached; try again.'));
    button.disabled = false;
  };
`;
