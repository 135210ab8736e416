/** The script of the playground that starts GraphiQL with the steps in its tabs. */
import { createHash } from 'node:crypto';
import { ICON } from '../../platform/http/pages/look.js';
import { FOLDER } from './page.js';
import { readSteps } from './steps.js';

/** The edition changes with the contents of the tabs. */
export function starterScript(): string {
  const steps = readSteps();
  const edition = createHash('sha256').update(JSON.stringify(steps)).digest('hex').slice(0, 8);
  const settings = { folder: FOLDER, logo: ICON, edition, steps };
  return SCRIPT.replace('SETTINGS', () => JSON.stringify(settings));
}

/** Runs before anything is painted: the colours that somebody chose in GraphiQL, in place of the system's. */
export const THEME_SCRIPT = `'use strict';
const theme = Object.entries(localStorage).find(([key]) => /^job-marketplace:.*:graphiql:theme$/.test(key));
if (theme?.[1]) document.body.classList.add('graphiql-' + theme[1]);
`;

const SCRIPT = String.raw`'use strict';
import { openGuide } from './guide.js';
import { send } from './memory.js';

const settings = SETTINGS;
const tabs = settings.steps.map(({ tab }) => tab);

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
  get length() { return keysOf(OWN).length; },
};

const workerOf = (_, label) => settings.folder + '/' + label.replace('WorkerService', '') + '.worker.js';
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: workerOf };

// Tabs that can be dragged jump away from the pointer, which loses the click: GraphiQL measures them before they have
// their places. So they stay where they are; the page's styles see to the rest.
const onTab = (event) => event.target instanceof Element && event.target.closest('.graphiql-tab');
document.addEventListener('pointerdown', (event) => onTab(event) && event.stopPropagation(), true);

openGuide(settings.steps, storage);

/** In a narrow window the answer is below the editors and out of sight. */
function sendAndShow(params, options) {
  if (params.operationName !== 'IntrospectionQuery')
    document.querySelector('.graphiql-response')?.scrollIntoView({ block: 'nearest' });
  return send(params, options);
}

// GraphiQL needs its first query: it keeps the tabs, but would add an empty one to them.
const kept = JSON.parse(storage.getItem('graphiql:tabState') ?? '{}');
const first = kept.tabs?.[kept.activeTabIndex] ?? tabs[0];
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), {
  title: 'Job Marketplace',
  logo: settings.logo,
  defaultTabs: tabs,
  query: first.query,
  variables: first.variables ?? '',
  initialHeaders: first.headers ?? '',
  fetcher: sendAndShow,
  storage,
  // GraphiQL would write what is typed into the address, and a reload would then ask the API instead of the page.
  onEditQuery: () => {},
});
`;
