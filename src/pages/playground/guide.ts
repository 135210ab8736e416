/** A playground script: the guide above GraphiQL, which explains the open tab and leads to the next one. */
export const GUIDE_SCRIPT = String.raw`'use strict';
import { latest, prepare } from './memory.js';
import { change, forgetAll, known, news } from './session.js';

const part = (name) => document.querySelector('#guide-' + name);
const nameOf = (tab) => tab.querySelector('.graphiql-tab-button').textContent;

/** Addresses in a step's text are links. */
const linkTo = (path) => {
  const link = Object.assign(document.createElement('a'), { href: path, textContent: path });
  // The playground stays open while the user pays.
  if (path === '/checkout')
    Object.assign(link, { href: known.ids.checkout ?? path, target: '_blank', rel: 'noopener' });
  return link;
};

export function openGuide(steps, storage) {
  const select = part('step');
  for (const chapter of new Set(steps.map((step) => step.chapter))) {
    const group = Object.assign(document.createElement('optgroup'), { label: chapter });
    steps.forEach((step, at) => step.chapter === chapter && group.append(new Option('', String(at))));
    select.append(group);
  }

  function mark() {
    for (const option of select.options) {
      const { name, title } = steps[option.value];
      option.textContent = (known.done.includes(name) ? '✓ ' : '') + (Number(option.value) + 1) + '. ' + title;
    }
    const step = steps.find(({ name }) => name === opened);
    const role = /{{(homeowner|contractor|admin)}}/.exec(step?.tab.headers)?.[1] ?? known.last;
    const isKnown = role && known.sessions[role];
    part('who').textContent = isKnown ? 'As ' + (known.emails[role] ?? 'the ' + role) : 'Signed out';
  }

  function open(at) {
    document.querySelector('#graphiql-session')?.scrollTo({ top: 0 });
    const tab = [...document.querySelectorAll('.graphiql-tab')].find((one) => nameOf(one) === steps[at].name);
    if (tab) tab.querySelector('.graphiql-tab-button').click();
    else show(at, 'You closed or renamed the tab ' + steps[at].name + '. “Start over” restores it.');
  }

  function show(at, text) {
    select.value = String(at);
    const pieces = text.split(/(?<= )(\/[\w/]+)/);
    part('text').replaceChildren(...pieces.map((piece, at) => (at % 2 ? linkTo(piece) : piece)));
    part('back').disabled = at <= 0;
    part('next').disabled = at === steps.length - 1;
    mark();
  }

  let opened;
  function follow() {
    // GraphiQL's tabs contain buttons, which the roles of tabs don't allow.
    for (const part of document.querySelectorAll('.graphiql-tabs, .graphiql-tab')) {
      part.removeAttribute('role');
      part.removeAttribute('aria-selected');
    }
    const active = document.querySelector('.graphiql-tab-active');
    sayWhatComes();
    if (!active || nameOf(active) === opened) return;
    opened = nameOf(active);
    active.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const at = steps.findIndex((step) => step.name === opened);
    for (const tab of document.querySelectorAll('.graphiql-tab')) {
      const step = steps.find(({ name }) => name === nameOf(tab));
      tab.hidden = step !== undefined && at >= 0 && step.chapter !== steps[at].chapter;
    }
    show(at, at < 0 ? 'This tab is yours. To return to the guide, choose a step from the list.' : steps[at].text);
  }

  function sayWhatComes() {
    const pane = document.querySelector('.graphiql-response');
    if (!pane) return;
    const step = steps.find(({ name }) => name === opened);
    const isEmpty = ![...pane.querySelectorAll('.view-line')].some(({ textContent }) => textContent.trim());
    if (isEmpty) pane.dataset.coming = step?.coming ?? 'The response appears here.';
    else delete pane.dataset.coming;
  }

  latest.answered = ({ name, answer, ms, bytes }) => {
    part('answer').textContent = answer ? Math.round(ms) + ' ms, ' + (bytes / 1024).toFixed(1) + ' KB' : '';
    const step = steps.find((one) => one.name === name);
    if (step && (!answer?.errors || step.isMeantToFail)) change({ done: [...new Set([...known.done, name])] });
    // The page learns from the response after this turn.
    setTimeout(mark);
  };

  function curl() {
    const step = steps.find(({ name }) => name === opened);
    const isLatest = !step || latest.request?.body.operationName === opened;
    const { headers, body } = isLatest ? latest.request ?? {} : prepare(
      { query: step.tab.query, operationName: step.name, variables: JSON.parse(step.tab.variables ?? '{}') },
      { headers: JSON.parse(step.tab.headers ?? '{}') },
    );
    if (!body) return 'curl ' + location.origin + '/graphql';
    const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
    const isStream = /^\s*subscription\b/m.test(body.query);
    headers.set('accept', isStream ? 'text/event-stream' : 'application/json');
    const sent = [...headers].map(([name, value]) => '-H ' + quoted(name + ': ' + value));
    const address = location.origin + '/graphql' + (isStream ? '/stream' : '');
    return ["curl -Nsw '\\n' " + address, ...sent, '-d ' + quoted(JSON.stringify(body))].join(' \\\n  ');
  }

  part('curl').hidden = !navigator.clipboard;
  part('curl').onclick = async () => {
    await navigator.clipboard.writeText(curl());
    part('answer').textContent = 'Copied';
  };
  news.addEventListener('change', mark);

  /** From another page: “#awardJob” opens the first step that performs it. */
  function openHash() {
    const at = steps.findIndex(({ calls }) => calls.includes(location.hash.slice(1)));
    if (at < 0 || !document.querySelector('.graphiql-tab')) return at < 0;
    history.replaceState(undefined, '', location.pathname);
    open(at);
    return true;
  }
  addEventListener('hashchange', openHash);

  select.onchange = () => open(Number(select.value));
  part('back').onclick = () => open(Number(select.value) - 1);
  part('next').onclick = () => open(select.value === '' ? 0 : Number(select.value) + 1);
  part('job').onclick = () => (part('job').hash = known.ids.job ?? '');
  part('over').onclick = () => {
    if (!confirm('Start over? This restores every tab and signs you out.')) return;
    forgetAll();
    storage?.clear();
    location.reload();
  };
  let isHashOpen = false;
  const update = () => {
    isHashOpen ||= openHash();
    follow();
  };
  mark();
  new MutationObserver(update).observe(document.querySelector('#root'), {
    subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['class'],
  });
}
`;
