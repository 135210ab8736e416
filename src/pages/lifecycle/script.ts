import type { PageFile } from '../../platform/http/pages/pages.js';

export const START_SCRIPT: PageFile = { contentType: 'text/javascript; charset=utf-8', read: async () => SCRIPT };

const SCRIPT = String.raw`'use strict';
import { change, forgetAll, heard, isOld, known, learnSession, news, renew } from './session.js';

const at = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const plain = (name) => name.replaceAll('_', ' ');

function element(name, ...children) {
  const node = document.createElement(name);
  node.append(...children);
  return node;
}

function show(link) {
  for (const one of all('svg a')) one.classList.toggle('shown', one === link);
  const row = at(link.getAttribute('href')).cloneNode(true);
  row.removeAttribute('id');
  at('#words').replaceChildren(element('table', row));
}

for (const link of all('svg a'))
  for (const type of ['pointerenter', 'focus', 'click'])
    link.addEventListener(type, (event) => {
      event.preventDefault();
      show(link);
      // Don't scroll the page under a mouse pointer.
      if (type !== 'pointerenter') link.scrollIntoView({ block: 'nearest' });
    });

const as = at('#as');

function showSessions() {
  const roles = ['homeowner', 'contractor', 'admin'].filter((role) => known.sessions[role]);
  const chosen = [as.value, known.last, roles[0]].find((role) => roles.includes(role));
  as.replaceChildren(...roles.map((role) => new Option(role, role, false, role === chosen)));
  at('#log-in').hidden = roles.length > 0;
  at('#signed-in').hidden = roles.length === 0;
  if (!chosen) showNoJob();
}

function showNoJob() {
  at('#where').replaceChildren();
  mark(undefined, []);
}

function refresh() {
  showSessions();
  if (as.value) attempt(listJobs);
}

async function logIn(form) {
  const body = JSON.stringify(Object.fromEntries(new FormData(form)));
  const headers = { 'content-type': 'application/json' };
  const answer = await call('/v1/auth/login', { method: 'POST', headers, body });
  form.reset();
  learnSession({ token: answer.token, refreshToken: answer.refresh_token });
  refresh();
}

async function read(path) {
  const role = as.value;
  if (isOld(role)) await renew(role);
  // The user chose “Forget me” in the meantime, which needs no message.
  if (!known.sessions[role]) throw new Error('');
  return call(path, { headers: { authorization: 'Bearer ' + known.sessions[role].token } }, role);
}

async function call(path, init, role) {
  const response = await fetch(path, init);
  const answer = await response.json();
  if (response.ok) return answer;
  if (role && response.status === 401) change({ sessions: { ...known.sessions, [role]: undefined } });
  throw new Error(answer.error);
}

let queue = Promise.resolve();

/** Runs one request at a time, so the last one decides what is shown. If it fails, no earlier job is shown. */
function attempt(work) {
  queue = queue.then(work).then(() => '', ({ message }) => message).then((problem) => {
    at('#problem').textContent = problem;
    if (problem) showNoJob();
    showSessions();
  });
}

let shown = /^#(job_\w+)$/.exec(location.hash)?.[1];

async function listJobs() {
  const { data } = await read('/v1/jobs?per_page=100');
  const options = data.map((job) => new Option(job.title + ' · ' + plain(job.status), job.id, false, job.id === shown));
  at('#job').replaceChildren(new Option(data.length > 0 ? 'Choose a job' : 'You have no jobs yet', ''), ...options);
  if (shown) await showJob(shown);
}

async function showJob(id) {
  shown = id;
  history.replaceState(undefined, '', '#' + id);
  const list = at('#job');
  list.value = id;
  if (list.selectedIndex < 0) list.selectedIndex = 0;
  const path = '/v1/jobs/' + encodeURIComponent(id);
  const job = await read(path);
  const { data: actions } = await read(path + '/actions');
  const may = actions.filter(({ allowed }) => allowed);
  const wait = at('svg .end[data-state=' + job.status + ']') ? 'this job is finished' : 'wait for the other party';
  mark(job.status, may.map(({ action }) => action));
  const listOf = (rows) => element('ul', ...rows.map((row) => itemFor(row, id)));
  at('#where').replaceChildren(
    element('p', element('b', job.title), ' is ', element('b', plain(job.status)), '.'),
    element('h3', may.length > 0 ? 'You can now' : 'You can’t do anything now: ' + wait),
    listOf(may),
    element('h3', 'You can’t'),
    listOf(actions.filter(({ allowed }) => !allowed)),
  );
}

/** An allowed action links to the playground's step that performs it, with this job. */
function itemFor(row, job) {
  const link = row.allowed && at('#step-' + row.action + ' [data-head=Operation] a')?.cloneNode();
  if (!link) return element('li', plain(row.action) + ' · ' + wordsFor(row));
  link.textContent = plain(row.action);
  link.onclick = () => change({ ids: { ...known.ids, job } });
  return element('li', link, ' · ' + wordsFor(row));
}

function wordsFor({ action, allowed, message, missing_fields: missing, token_cost: tokens }) {
  if (missing.length > 0) return 'First fill in: ' + missing.map(plain).join(', ') + '.';
  if (!allowed) return message;
  return 'costs ' + (tokens ? tokens + ' tokens' : at('#step-' + action + ' [data-head=Cost]').textContent);
}

function mark(state, allowed) {
  at('svg').classList.toggle('located', state !== undefined);
  for (const link of all('svg .state')) link.ariaCurrent = link.dataset.state === state ? 'step' : null;
  for (const link of all('svg .move')) {
    const may = allowed.includes(link.dataset.step);
    link.classList.toggle('may', may);
    for (const { classList, dataset } of link.querySelectorAll('.line'))
      classList.toggle('open', may && (dataset.from === state || dataset.from === 'any state'));
  }
}

function choose(event) {
  event.preventDefault();
  const id = at('#job-id').value.trim() || at('#job').value;
  if (id) attempt(() => showJob(id));
}

at('#log-in').onsubmit = (event) => {
  event.preventDefault();
  attempt(() => logIn(event.target));
};
at('#choose').onsubmit = choose;
at('#job').onchange = (event) => {
  at('#job-id').value = '';
  choose(event);
};
as.onchange = () => attempt(listJobs);
at('#log-out').onclick = () => {
  shown = undefined;
  forgetAll();
  showSessions();
};
// The job's state may have changed while another page was open.
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && refresh());
news.addEventListener('change', refresh);

await heard;
refresh();
`;
