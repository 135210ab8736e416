/** The script of the playground that starts GraphiQL, with SETTINGS put in as data. */
export const STARTER_SCRIPT = String.raw`'use strict';
import { openGuide } from './guide.js';
import { send } from './memory.js';

const settings = SETTINGS;

// Other GraphiQLs at the same address (often localhost:4000) keep their tabs, and this one keeps its own. Tabs of an
// older version of the story are removed.
const OURS = 'job-marketplace:';
const OWN = OURS + settings.edition + ':';
const keysOf = (prefix) => Object.keys(localStorage).filter((key) => key.startsWith(prefix));
keysOf(OURS).filter((key) => !key.startsWith(OWN)).forEach((key) => localStorage.removeItem(key));
const storage = {
  getItem: (key) => localStorage.getItem(OWN + key),
  setItem: (key, value) => localStorage.setItem(OWN + key, value),
  removeItem: (key) => localStorage.removeItem(OWN + key),
  clear: () => keysOf(OWN).forEach((key) => localStorage.removeItem(key)),
  get length() {
    return keysOf(OWN).length;
  },
};

function lastOpenTab() {
  try {
    const { tabs, activeTabIndex } = JSON.parse(storage.getItem('graphiql:tabState'));
    return tabs[activeTabIndex];
  } catch {
    return undefined;
  }
}

const WORKERS = { json: 'json', graphql: 'graphql', editorWorkerService: 'editor' };
self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_, label) => settings.folder + '/' + WORKERS[label] + '.worker.js',
};

// Tabs that can be dragged jump away from the pointer, which loses the click: GraphiQL measures them before they have
// their places. So they stay where they are; the page's styles see to the rest.
const onTab = (event) => event.target instanceof Element && event.target.closest('.graphiql-tab');
document.addEventListener('pointerdown', (event) => onTab(event) && event.stopPropagation(), true);

openGuide(settings.steps, storage);

/** Scrolls to the answer, which in a narrow window is below the editors and out of sight. */
async function sendAndShow(params, options) {
  const answer = await send(params, options);
  if (params.operationName !== 'IntrospectionQuery')
    document.querySelector('.graphiql-response')?.scrollIntoView({ block: 'nearest' });
  return answer;
}

const begun = lastOpenTab() ?? settings.tabs[0];
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), {
  title: settings.title,
  logo: settings.logo,
  defaultTabs: settings.tabs,
  // GraphiQL needs its first query: it keeps the tabs, but would add an empty one to them.
  query: begun.query,
  variables: begun.variables ?? '',
  initialHeaders: begun.headers ?? '',
  fetcher: sendAndShow,
  storage,
  // GraphiQL would write what is typed into the address, and a reload would then ask the API instead of the page.
  onEditQuery: () => {},
});
`;
