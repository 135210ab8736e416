/**
 * A playground script that collects sessions and IDs from responses, and fills placeholders like {{homeowner}} and
 * {{job}}. It also refreshes access tokens. `pages/session-script.ts` stores the sessions.
 */
export const MEMORY_SCRIPT = String.raw`'use strict';
import { change, heard, isOld, known, learnSession, renew as renewSession } from './session.js';
import { stream } from './stream.js';

/** The last request, and the listener for its response. */
export const latest = { request: undefined, answered: () => {} };

/** The tab that provides each value. */
const TABS = {
  homeowner: 'SignUp', contractor: 'SignUpContractor', admin: 'LogInAsAdmin', job: 'CreateJob', bid: 'SubmitBid',
  contractorId: 'SignUpContractor', contractorUserId: 'SignUpContractor', homeownerUserId: 'SignUp', refresh: 'SignUp',
  weekLater: 'PublishThirdJob', pack: 'NotEnoughTokens', webhook: 'CreateWebhookEndpoint', gap: 'ReadDeliveries',
  beforeGap: 'ReadDeliveries',
};
const WEEK_MS = 7 * 86_400_000;
const SIGNS_IN = /^\s*mutation\b[^{]*\{\s*(?:\w+\s*:\s*)?(?:signUp\w+|logIn|requestPasswordReset)\b/m;

/** The fetcher of GraphiQL. */
export async function send(params, options) {
  await heard;
  try {
    const { missing, roles } = prepare(params, options);
    if (missing.size > 0) return { errors: [...missing].map(notSent) };
    for (const role of roles) if (isOld(role)) await renew(role);
    if (/^\s*subscription\b/m.test(params.query)) {
      latest.answered({ name: params.operationName });
      return stream((latest.request = prepare(params, options)));
    }
    const answer = await post(prepare(params, options));
    if (!answer.errors?.some(({ extensions }) => extensions?.reason === 'expired')) return learned(answer);
    // The server rejected every field that needs a token, so the operation can be sent again.
    await Promise.all([...roles].map(renew));
    return learned(await post(prepare(params, options)));
  } catch ({ message }) {
    return { errors: [{ message }] };
  }
}

export function prepare({ query, operationName, variables }, options) {
  const missing = new Set();
  const roles = new Set();
  const headers = new Headers({ ...fill(options?.headers, missing, roles), 'content-type': 'application/json' });
  const last = known.sessions[known.last];
  // Anyone can read the schema or sign in, even after their session has ended.
  const isPublic = operationName === 'IntrospectionQuery' || SIGNS_IN.test(query);
  if (!headers.has('authorization') && last && !isPublic) {
    roles.add(known.last);
    headers.set('authorization', 'Bearer ' + last.token);
  }
  const body = { query, operationName: nameIn(query, operationName), variables: fill(variables, missing, roles) };
  return { missing, roles, headers, body };
}

function fill(value, missing, roles) {
  if (typeof value === 'string')
    return value.replace(/\{\{(\w+)\}\}/g, (whole, name) => valueOf(name, roles) ?? (missing.add(whole), whole));
  if (Array.isArray(value)) return value.map((item) => fill(item, missing, roles));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, missing, roles)]));
}

function valueOf(name, roles) {
  if (name === 'random') return Math.random().toString(36).slice(2, 10).padEnd(8, '0');
  if (name === 'origin') return location.origin;
  if (name === 'refresh') return known.sessions[known.last]?.refreshToken;
  if (!known.sessions[name]) return known.ids[name];
  roles.add(name);
  return known.sessions[name].token;
}

// Right after the tab changes, GraphiQL still has the other tab's operation name.
function nameIn(query, name) {
  return name && new RegExp('\\b(query|mutation|subscription)\\s+' + name + '\\b').test(query) ? name : undefined;
}

async function post(request) {
  const { headers, body } = request;
  headers.set('accept', 'application/json');
  const began = performance.now();
  const response = await fetch(location.pathname, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  const answer = JSON.parse(text);
  if (body.operationName === 'IntrospectionQuery') return answer;
  latest.request = request;
  latest.answered({ name: body.operationName, answer, ms: performance.now() - began, bytes: new Blob([text]).size });
  return answer;
}

function renew(role) {
  return renewSession(role).catch(({ message, isOver }) => {
    throw new Error('Nothing was sent: the token {{' + role + '}} has expired and couldn’t be renewed. ' + message +
      (isOver ? ' Sign in again: run the tab ' + TABS[role] + ' first.' : ' Try again.'));
  });
}

function learned(answer) {
  const pack = answer.errors?.[0]?.extensions?.pack;
  if (typeof pack === 'string') change({ ids: { ...known.ids, pack } });
  for (const result of Object.values(answer.data ?? {})) {
    if (typeof result?.token === 'string') {
      learnSession(result);
      if (result.user?.email) change({ emails: { ...known.emails, [known.last]: result.user.email } });
    }
    const contractorId = result?.contractor?.id;
    const contractorUserId = contractorId && result.user?.id;
    const homeownerUserId = result?.homeowner?.id && result.user?.id;
    const deadline = result?.job?.upcoming?.[0]?.at;
    const weekLater = deadline && new Date(Date.parse(deadline) + WEEK_MS).toISOString();
    const gap = result?.deliveries?.nodes.find(({ previousPosition }) => previousPosition)?.previousPosition;
    const ids = {
      job: result?.job?.id, bid: result?.bid?.id, contractorId, contractorUserId, homeownerUserId, weekLater,
      checkout: result?.checkoutUrl, webhook: result?.webhookEndpoint?.id,
      gap, beforeGap: gap && String(BigInt(gap) - 1n),
    };
    const present = Object.entries(ids).filter(([, id]) => typeof id === 'string');
    if (present.length > 0) change({ ids: { ...known.ids, ...Object.fromEntries(present) } });
  }
  return answer;
}

function notSent(placeholder) {
  const tab = TABS[placeholder.slice(2, -2)];
  if (tab) return { message: 'Nothing was sent: ' + placeholder + ' has no value yet. Run the tab ' + tab + ' first.' };
  const names = ['random', 'origin', ...Object.keys(TABS)].map((name) => '{{' + name + '}}').join(', ');
  return { message: 'Nothing was sent: ' + placeholder + ' is unknown. Use one of ' + names + '.' };
}
`;
