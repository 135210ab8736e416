/**
 * Keeps one session per role. Open pages share their tokens, so a second tab is signed in too.
 *
 * Sessions are in sessionStorage, which survives a reload but not the end of the browser's tab. A refresh token lasts
 * 30 days. On a shared computer's disk, other projects on the same localhost origin could read it.
 */
import type { PageFile } from '../platform/http/pages/pages.js';

export const SESSION_SCRIPT: PageFile = { contentType: 'text/javascript; charset=utf-8', read: async () => SCRIPT };

const SCRIPT = String.raw`'use strict';
const KEY = 'job-marketplace:memory';
const RENEW_BEFORE_MS = 60_000;
const WAIT_FOR_OTHER_TABS_MS = 200;
const NOTHING = { changedAt: 0, last: undefined, sessions: {}, ids: {}, emails: {}, done: [] };

/** A browser that blocks cookies also throws when a page uses storage. */
export function ifStorageAllows(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}

export let known = { ...NOTHING, ...ifStorageAllows(() => JSON.parse(sessionStorage.getItem(KEY))) };

/** Dispatches 'change' when another page has sent something new. */
export const news = new EventTarget();

const otherTabs = ifStorageAllows(() => new BroadcastChannel(KEY));
/** Resolves when this page knows everything that the other pages know. */
export const heard = new Promise((resolve) => {
  if (otherTabs) otherTabs.onmessage = ({ data }) => {
    if (data === 'ask') {
      if (known.changedAt > 0) otherTabs.postMessage(known);
    } else {
      const isNews = data.changedAt > known.changedAt;
      keep(isNews ? withRenewals(data, known) : withRenewals(known, data));
      if (isNews) news.dispatchEvent(new Event('change'));
      resolve();
    }
  };
  setTimeout(resolve, WAIT_FOR_OTHER_TABS_MS);
});
otherTabs?.postMessage('ask');

// A page can change something before it learns that another page renewed a session. A refresh token works only once.
function withRenewals(newer, older) {
  const latest = ([role, session]) => {
    const other = older.sessions[role];
    return [role, session && other?.renewAt > session.renewAt ? other : session];
  };
  return { ...newer, sessions: Object.fromEntries(Object.entries(newer.sessions).map(latest)) };
}

function keep(next) {
  known = next;
  ifStorageAllows(() => sessionStorage.setItem(KEY, JSON.stringify(known)));
}

export function change(part) {
  keep({ ...known, ...part, changedAt: Math.max(Date.now(), known.changedAt + 1) });
  otherTabs?.postMessage(known);
}

export function forgetAll() {
  change({ ...NOTHING });
}

// The token's times follow the server's clock, which may differ from the browser's. Its duration is the same on both.
export function learnSession({ token, refreshToken }, last) {
  const { role, iat, exp } = JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
  const renewAt = Date.now() + (exp - iat) * 1000 - RENEW_BEFORE_MS;
  change({ last: last ?? role, sessions: { ...known.sessions, [role]: { token, refreshToken, renewAt } } });
}

export function isOld(role) {
  return Date.now() > known.sessions[role]?.renewAt;
}

// Renews one token at a time across all tabs. A browser has no locks on plain HTTP from another machine or without
// storage, but the server gives the same response to two renewals within a minute. Throws the server's message, with
// 'isOver' if the session has ended.
export function renew(role) {
  const spent = known.sessions[role]?.token;
  const work = () => renewAlone(role, spent);
  return navigator.locks && ifStorageAllows(() => sessionStorage) ? navigator.locks.request(KEY, work) : work();
}

async function renewAlone(role, spent) {
  const session = known.sessions[role];
  if (!session?.refreshToken || session.token !== spent) return;
  const response = await fetch('/v1/auth/refresh', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token: session.refreshToken }),
  });
  const answer = await response.json();
  // The user may have signed out, or in again, in the meantime.
  if (known.sessions[role]?.token !== spent) return;
  if (response.ok) return learnSession({ token: answer.token, refreshToken: answer.refresh_token }, known.last);
  const isOver = response.status === 401;
  if (isOver) change({ sessions: { ...known.sessions, [role]: undefined } });
  throw Object.assign(new Error(answer.error), { isOver });
}
`;
