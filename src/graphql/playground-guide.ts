/**
 * A script of the playground: the bar above GraphiQL, which describes the step of the open tab and leads from step to
 * step, also where the window is too narrow for the tabs.
 */
export const GUIDE_SCRIPT = String.raw`'use strict';
import { forgetAll, known } from './session.js';

const part = (name) => document.querySelector('#guide-' + name);
const tabs = () => [...document.querySelectorAll('.graphiql-tab')];
const nameOf = (tab) => tab.querySelector('.graphiql-tab-button').textContent;

export function openGuide(steps, storage) {
  const select = part('step');
  for (const chapter of new Set(steps.map((step) => step.chapter))) {
    const group = document.createElement('optgroup');
    group.label = chapter;
    steps.forEach((step, at) => {
      if (step.chapter === chapter) group.append(new Option(at + 1 + '. ' + step.name, String(at)));
    });
    select.append(group);
  }

  function open(at) {
    document.querySelector('#graphiql-session')?.scrollTo({ top: 0 });
    const tab = tabs().find((one) => nameOf(one) === steps[at].name);
    if (tab) tab.querySelector('.graphiql-tab-button').click();
    else show(at, 'The tab ' + steps[at].name + ' was closed or renamed; “Start over” brings it back.');
  }

  function show(at, text) {
    select.value = String(at);
    part('text').textContent = text;
    part('back').disabled = at <= 0;
    part('next').disabled = at === steps.length - 1;
  }

  function follow() {
    const active = document.querySelector('.graphiql-tab-active');
    if (!active) return;
    active.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const at = steps.findIndex((step) => step.name === nameOf(active));
    show(at, at < 0 ? 'This tab is your own: write what you like. The list leads back to the story.' : steps[at].text);
  }

  select.addEventListener('change', () => open(Number(select.value)));
  part('back').addEventListener('click', () => open(Number(select.value) - 1));
  part('next').addEventListener('click', () => open(select.value === '' ? 0 : Number(select.value) + 1));
  part('job').addEventListener('click', ({ currentTarget }) => {
    currentTarget.hash = known.ids.job ?? '';
  });
  part('over').addEventListener('click', () => {
    forgetAll();
    storage.clear();
    location.reload();
  });
  whenThere('.graphiql-tabs', (bar) => {
    new MutationObserver(follow).observe(bar, {
      subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['class'],
    });
    follow();
  });
}

function whenThere(selector, use) {
  const found = document.querySelector(selector);
  if (found) return use(found);
  const observer = new MutationObserver(() => {
    const added = document.querySelector(selector);
    if (!added) return;
    observer.disconnect();
    use(added);
  });
  observer.observe(document.querySelector('#root'), { subtree: true, childList: true });
}
`;
