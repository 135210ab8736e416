/**
 * A script of the playground: it keeps the sessions and ids of the answers, fills them in where a tab says
 * {{homeowner}} or {{job}}, and renews access tokens.
 *
 * What it keeps lies in sessionStorage: it outlives a reload and goes with the browser's tab, so that no refresh token,
 * good for 30 days, stays on the disk of a shared computer, and no other project that is later served from the same
 * localhost address finds it. Open tabs tell each other what they know, so that a second tab is signed in too, and a
 * token that one has renewed is the others' as well.
 */
export const MEMORY_SCRIPT = String.raw`'use strict';
const KEY = 'job-marketplace:memory';
const RENEW_BEFORE_MS = 60_000;
const WAIT_FOR_OTHER_TABS_MS = 200;
const NOTHING = { changedAt: 0, last: undefined, sessions: {}, ids: {} };
const RENEW = 'mutation RenewSession($input: RefreshSessionInput!) { ' +
  'refreshSession(input: $input) { token refreshToken } }';

let known = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') ?? NOTHING;

const otherTabs = new BroadcastChannel(KEY);
const heard = new Promise((resolve) => {
  otherTabs.onmessage = ({ data }) => {
    if (data === 'ask') {
      if (known.changedAt > 0) otherTabs.postMessage(known);
    } else {
      if (data.changedAt > known.changedAt) keep(data);
      resolve();
    }
  };
  setTimeout(resolve, WAIT_FOR_OTHER_TABS_MS);
});
otherTabs.postMessage('ask');

function keep(next) {
  known = next;
  sessionStorage.setItem(KEY, JSON.stringify(known));
}

function change(part) {
  keep({ ...known, ...part, changedAt: Math.max(Date.now(), known.changedAt + 1) });
  otherTabs.postMessage(known);
}

export function forgetAll() {
  change({ ...NOTHING });
}

const HOW = {
  homeowner: 'run the tab SignUp first',
  contractor: 'run the tab SignUpContractor first',
  admin: 'run the tab LogInAsAdmin first',
  job: 'run the tab CreateJob first',
  bid: 'run the tab SubmitBid first',
  contractorId: 'run the tab SignUpContractor first',
  refresh: 'run the tab SignUp first',
};

function valueOf(name, roles) {
  if (name === 'random') return Math.random().toString(36).slice(2, 10).padEnd(8, '0');
  if (name === 'refresh') return known.sessions[known.last]?.refreshToken;
  if (!known.sessions[name]) return known.ids[name];
  roles.add(name);
  return known.sessions[name].token;
}

function fill(value, missing, roles) {
  if (typeof value === 'string')
    return value.replace(/\{\{(\w+)\}\}/g, (whole, name) => valueOf(name, roles) ?? (missing.add(whole), whole));
  if (Array.isArray(value)) return value.map((item) => fill(item, missing, roles));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, missing, roles)]));
}

function prepare({ query, operationName, variables }, { headers } = {}) {
  const missing = new Set();
  const roles = new Set();
  const sent = new Headers(fill(headers ?? {}, missing, roles));
  const last = known.sessions[known.last];
  // The schema is read without a token, so that it can be read whatever has become of the session.
  if (!sent.has('authorization') && last && operationName !== 'IntrospectionQuery') {
    roles.add(known.last);
    sent.set('authorization', 'Bearer ' + last.token);
  }
  const body = { query, operationName: nameIn(query, operationName), variables: fill(variables, missing, roles) };
  return { missing, roles, headers: sent, body };
}

// Right after a change of tabs, GraphiQL still says the name of the other tab's operation.
function nameIn(query, name) {
  return name && new RegExp('\\b(query|mutation|subscription)\\s+' + name + '\\b').test(query) ? name : undefined;
}

async function post({ headers, body }) {
  const sent = new Headers(headers);
  sent.set('accept', 'application/json');
  sent.set('content-type', 'application/json');
  const response = await fetch(location.pathname, { method: 'POST', headers: sent, body: JSON.stringify(body) });
  return response.json();
}

/** What GraphiQL calls to send something. */
export async function send(params, options) {
  await heard;
  try {
    const { missing, roles } = prepare(params, options);
    if (missing.size > 0) return { errors: [...missing].map(notSent) };
    for (const role of roles) if (Date.now() > known.sessions[role].renewAt) await renew(role);
    const answer = await post(prepare(params, options));
    if (!hasExpired(answer)) return learned(answer);
    // All that needs a token was refused, so that it may be sent again.
    for (const role of roles) await renew(role);
    return learned(await post(prepare(params, options)));
  } catch (error) {
    return { errors: [{ message: error.message }] };
  }
}

function hasExpired({ errors = [] }) {
  return errors.some(({ extensions }) => extensions?.reason === 'expired');
}

// One at a time over all tabs of the browser. Where it has no locks, on plain HTTP from another machine, the server
// answers two renewals within a minute alike.
function renew(role) {
  const spent = known.sessions[role]?.token;
  const work = () => renewAlone(role, spent);
  return navigator.locks ? navigator.locks.request(KEY, work) : work();
}

async function renewAlone(role, spent) {
  const session = known.sessions[role];
  if (!session?.refreshToken || session.token !== spent) return;
  const input = { refreshToken: session.refreshToken };
  const { data, errors } = await post({ headers: {}, body: { query: RENEW, variables: { input } } });
  if (data?.refreshSession) return learnSession(data.refreshSession, known.last);
  const [{ message, extensions }] = errors;
  const over = extensions?.status === 401;
  if (over) change({ sessions: { ...known.sessions, [role]: undefined } });
  throw new Error('Nothing was sent: the token {{' + role + '}} has run out and was not renewed: ' + message +
    (over ? ' Sign in again: ' + HOW[role] + '.' : ' Try again.'));
}

function learned(answer) {
  for (const result of Object.values(answer.data ?? {})) {
    if (typeof result?.token === 'string') learnSession(result);
    const ids = { job: result?.job?.id, bid: result?.bid?.id, contractorId: result?.contractor?.id };
    const found = Object.entries(ids).filter(([, id]) => typeof id === 'string');
    if (found.length > 0) change({ ids: { ...known.ids, ...Object.fromEntries(found) } });
  }
  return answer;
}

// The token's own times may be by another clock than the browser's; how long it lasts is the same by both.
function learnSession({ token, refreshToken }, last) {
  const { role, iat, exp } = JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
  const renewAt = Date.now() + (exp - iat) * 1000 - RENEW_BEFORE_MS;
  change({ last: last ?? role, sessions: { ...known.sessions, [role]: { token, refreshToken, renewAt } } });
}

function notSent(placeholder) {
  const how = HOW[placeholder.slice(2, -2)] ?? 'it knows {{' + Object.keys(HOW).join('}}, {{') + '}} and {{random}}';
  return { message: 'Nothing was sent: this page does not know ' + placeholder + ' yet; ' + how + '.' };
}
`;
