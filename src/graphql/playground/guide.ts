/** A script of the playground: the bar above GraphiQL, which describes the open tab and leads from step to step. */
export const GUIDE_SCRIPT = String.raw`'use strict';
import { forgetAll, known } from './session.js';

const part = (name) => document.querySelector('#guide-' + name);
const nameOf = (tab) => tab.querySelector('.graphiql-tab-button').textContent;

export function openGuide(steps, storage) {
  const select = part('step');
  select.append(...steps.map(({ name }, at) => new Option(at + 1 + '. ' + name, String(at))));

  function open(at) {
    document.querySelector('#graphiql-session')?.scrollTo({ top: 0 });
    const tab = [...document.querySelectorAll('.graphiql-tab')].find((one) => nameOf(one) === steps[at].name);
    if (tab) tab.querySelector('.graphiql-tab-button').click();
    else show(at, 'The tab ' + steps[at].name + ' was closed or renamed; “Start over” brings it back.');
  }

  function show(at, text) {
    select.value = String(at);
    part('text').textContent = text;
    part('back').disabled = at <= 0;
    part('next').disabled = at === steps.length - 1;
  }

  let opened;
  function follow() {
    const active = document.querySelector('.graphiql-tab-active');
    if (!active || nameOf(active) === opened) return;
    opened = nameOf(active);
    active.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const at = steps.findIndex((step) => step.name === opened);
    show(at, at < 0 ? 'This tab is your own: write what you like. The list leads back to the story.' : steps[at].text);
  }

  select.onchange = () => open(Number(select.value));
  part('back').onclick = () => open(Number(select.value) - 1);
  part('next').onclick = () => open(select.value === '' ? 0 : Number(select.value) + 1);
  part('job').onclick = () => (part('job').hash = known.ids.job ?? '');
  part('over').onclick = () => {
    forgetAll();
    storage.clear();
    location.reload();
  };
  new MutationObserver(follow).observe(document.querySelector('#root'), {
    subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['class'],
  });
}
`;
