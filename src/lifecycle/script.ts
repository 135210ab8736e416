/** The script of the lifecycle's page: the words of what is pointed at, and where a job of the viewer's stands. */
import { STEPS } from './words.js';

export function startScript(): string {
  const settings = { steps: Object.fromEntries(STEPS.map(({ id, name, cost }) => [id, { name, cost }])) };
  return SCRIPT.replace('SETTINGS', () => JSON.stringify(settings));
}

const SCRIPT = String.raw`'use strict';
import { change, forgetAll, heard, isOld, known, learnSession, news, renew } from './session.js';

const { steps } = SETTINGS;
const at = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

function element(name, text, ...children) {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...children);
  return made;
}

// What is pointed at.

function show(link) {
  all('svg .shown').forEach((one) => one.classList.remove('shown'));
  link.classList.add('shown');
  const close = element('button', 'Close');
  close.addEventListener('click', () => at('#words').classList.remove('shown'));
  at('#words').replaceChildren(close, ...(link.dataset.step ? stepWords(link) : stateWords(link)));
  at('#words').classList.add('shown');
}

function stepWords({ dataset: { step } }) {
  const row = at('#step-' + step);
  const list = element('dl', '');
  for (const cell of row.querySelectorAll('td:not(:first-of-type)')) {
    const text = element('dd', '');
    text.append(...cell.cloneNode(true).childNodes);
    list.append(element('dt', cell.dataset.head), text);
  }
  return [element('h2', steps[step].name), element('p', row.querySelector('td').textContent), list];
}

function stateWords({ dataset: { state } }) {
  const words = at('#state-' + state);
  const text = element('p', '');
  text.append(...words.nextElementSibling.cloneNode(true).childNodes);
  return [element('h2', words.textContent), text];
}

for (const link of all('svg a')) {
  link.addEventListener('pointerenter', ({ pointerType }) => pointerType === 'mouse' && show(link));
  link.addEventListener('focus', () => show(link));
  link.addEventListener('click', (event) => {
    event.preventDefault();
    show(link);
  });
}

// Who is signed in.

const as = at('#as');
const ROLES = ['homeowner', 'contractor', 'admin'];

function showSessions() {
  const roles = ROLES.filter((role) => known.sessions[role]);
  const chosen = [as.value, known.last, roles[0]].find((role) => roles.includes(role));
  as.replaceChildren(...roles.map((role) => new Option(role, role, false, role === chosen)));
  at('#log-in').hidden = roles.length > 0;
  at('#signed-in').hidden = roles.length === 0;
  if (roles.length === 0) forget();
  return chosen;
}

async function refresh() {
  if (showSessions()) await attempt(listJobs);
}

function forget() {
  at('#job').replaceChildren();
  at('#where').replaceChildren();
  mark(undefined, []);
}

async function logIn({ email, password }) {
  const { token, refresh_token: refreshToken } = await call('/v1/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: email.value, password: password.value }),
  });
  password.value = '';
  learnSession({ token, refreshToken });
  as.value = '';
  showSessions();
  await listJobs();
}

async function read(path) {
  const role = as.value;
  const send = () => call(path, { headers: { authorization: 'Bearer ' + known.sessions[role]?.token } });
  try {
    if (known.sessions[role] && isOld(role)) await renew(role);
    return await send().catch(async (error) => {
      if (error.reason !== 'expired') throw error;
      await renew(role);
      return send();
    });
  } catch (error) {
    const isOver = error.isOver || ['session_ended', 'missing', 'malformed', 'invalid'].includes(error.reason);
    if (isOver) change({ sessions: { ...known.sessions, [role]: undefined } });
    if (isOver) showSessions();
    throw error;
  }
}

async function call(path, init) {
  const response = await fetch(path, init);
  const answer = await response.json();
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.error), { reason: answer.details?.reason });
}

let attempts = 0;

/** Says what went wrong; of two that are under way, the later one counts. */
async function attempt(work) {
  const number = (attempts += 1);
  at('#problem').textContent = '';
  try {
    await work(() => number === attempts);
  } catch (error) {
    if (number === attempts) at('#problem').textContent = error.message;
  }
}

// Where a job stands.

let shown = /^#(job_\w+)$/.exec(location.hash)?.[1];
if (shown) at('#job-id').value = shown;

async function listJobs(isLast = () => true) {
  const { data } = await read('/v1/jobs?per_page=100');
  if (!isLast()) return;
  const id = at('#job-id').value.trim() || shown;
  const options = data.map((job) => new Option(job.title + ' · ' + plain(job.status), job.id, false, job.id === id));
  at('#job').replaceChildren(new Option(data.length > 0 ? 'Choose a job' : 'You have no job yet', ''), ...options);
  if (id) await showJob(id, isLast);
}

async function showJob(id, isLast = () => true) {
  const path = '/v1/jobs/' + encodeURIComponent(id);
  const [job, { data: actions }] = await Promise.all([read(path), read(path + '/actions')]);
  if (!isLast()) return;
  shown = id;
  history.replaceState(undefined, '', '#' + id);
  mark(job.status, actions.filter(({ allowed }) => allowed).map(({ action }) => action));
  const may = actions.filter(({ allowed }) => allowed);
  const not = actions.filter(({ allowed }) => !allowed);
  const rest = element('details', '', element('summary', 'You may not'), list(not, whyNot));
  rest.open = isWide();
  at('#where').replaceChildren(
    element('p', '', element('b', job.title), ' is ', element('b', plain(job.status)), '.'),
    element('h3', 'You may now'),
    may.length > 0 ? list(may, priceOf) : element('p', 'nothing: wait for the others.'),
    rest,
  );
}

function isWide() {
  return matchMedia('(min-width: 861px)').matches;
}

function list(actions, words) {
  return element('ul', '', ...actions.map((one) => {
    const link = element('a', steps[one.action].name);
    link.href = '#step-' + one.action;
    return element('li', '', link, element('span', ' · ' + words(one)));
  }));
}

function priceOf({ action, token_cost: tokens }) {
  return tokens === null ? steps[action].cost.replace(/^nothing/, 'costs nothing') : 'costs ' + tokens + ' tokens';
}

function whyNot({ message, missing_fields: missing }) {
  return missing.length > 0 ? 'Fill in first: ' + missing.map(plain).join(', ') + '.' : message;
}

function plain(name) {
  return name.replaceAll('_', ' ');
}

function mark(state, allowed) {
  at('svg').classList.toggle('located', state !== undefined);
  for (const link of all('svg .state')) {
    link.classList.toggle('here', link.dataset.state === state);
    if (link.dataset.state === state) link.setAttribute('aria-current', 'step');
    else link.removeAttribute('aria-current');
  }
  for (const link of all('svg .move')) {
    const may = allowed.includes(link.dataset.step);
    link.classList.toggle('may', may);
    for (const line of link.querySelectorAll('.line'))
      line.classList.toggle('open', may && (line.dataset.from === state || 'all' in line.dataset));
  }
}

at('#log-in').addEventListener('submit', (event) => {
  event.preventDefault();
  attempt(() => logIn(event.target.elements));
});
at('#choose').addEventListener('submit', (event) => {
  event.preventDefault();
  const id = at('#job-id').value.trim() || at('#job').value;
  if (id) attempt((isLast) => showJob(id, isLast));
});
at('#job').addEventListener('change', ({ target }) => {
  at('#job-id').value = '';
  if (target.value) attempt((isLast) => showJob(target.value, isLast));
});
as.addEventListener('change', () => attempt(listJobs));
at('#log-out').addEventListener('click', () => {
  shown = undefined;
  forgetAll();
  showSessions();
});
// A job may have moved while another page was looked at.
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && refresh());
news.addEventListener('change', refresh);

at('#yours').open = isWide() || shown !== undefined;
await heard;
if (Object.keys(known.sessions).length > 0) at('#yours').open = true;
await refresh();
`;
