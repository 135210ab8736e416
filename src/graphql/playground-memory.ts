/**
 * A script of the playground: it keeps the sessions and ids of the answers, fills them in where a tab contains
 * {{homeowner}} or {{job}}, and renews access tokens. Sessions are those of `http/session-script.ts`.
 */
export const MEMORY_SCRIPT = String.raw`'use strict';
import { change, heard, isOld, known, learnSession, renew as renewSession } from './session.js';
import { hasExpired, stream } from './stream.js';

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
  // The schema is read without a token, so that it can be read after the session has ended.
  if (!sent.has('authorization') && last && operationName !== 'IntrospectionQuery') {
    roles.add(known.last);
    sent.set('authorization', 'Bearer ' + last.token);
  }
  const body = { query, operationName: nameIn(query, operationName), variables: fill(variables, missing, roles) };
  return { missing, roles, headers: sent, body };
}

// Right after a change of tabs, GraphiQL still has the name of the other tab's operation.
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

/** The fetcher of GraphiQL. */
export async function send(params, options) {
  await heard;
  try {
    const { missing, roles } = prepare(params, options);
    if (missing.size > 0) return { errors: [...missing].map(notSent) };
    for (const role of roles) if (isOld(role)) await renew(role);
    const renewed = () => Promise.all([...roles].map(renew));
    if (isSubscription(params)) return stream(() => prepare(params, options), renewed);
    const answer = await post(prepare(params, options));
    if (!hasExpired(answer)) return learned(answer);
    // Every field that needs a token was refused, so that the operation may be sent again.
    await renewed();
    return learned(await post(prepare(params, options)));
  } catch (error) {
    return { errors: [{ message: error.message }] };
  }
}

function isSubscription({ query, operationName }) {
  const name = nameIn(query, operationName);
  return new RegExp('^\\s*subscription\\b' + (name ? '\\s+' + name + '\\b' : ''), 'm').test(query);
}

async function renew(role) {
  try {
    await renewSession(role);
  } catch ({ message, isOver }) {
    throw new Error('Nothing was sent: the token {{' + role + '}} has run out and was not renewed: ' + message +
      (isOver ? ' Sign in again: ' + HOW[role] + '.' : ' Try again.'));
  }
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

function notSent(placeholder) {
  const how = HOW[placeholder.slice(2, -2)] ?? 'it knows {{' + Object.keys(HOW).join('}}, {{') + '}} and {{random}}';
  return { message: 'Nothing was sent: this page does not know ' + placeholder + ' yet; ' + how + '.' };
}
`;
