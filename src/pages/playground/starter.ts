/** The playground script that starts GraphiQL with the steps in its tabs. */
import { createHash } from 'node:crypto';
import { FOLDER } from './page.js';
import { readSteps } from './steps.js';

/** The script contains an edition, which changes whenever the tabs' contents change. */
export function starterScript(options: { readonly buying: boolean }): string {
  const steps = readSteps(options);
  const edition = createHash('sha256').update(JSON.stringify(steps)).digest('hex').slice(0, 8);
  const settings = { folder: FOLDER, edition, steps };
  return SCRIPT.replace('SETTINGS', () => JSON.stringify(settings));
}

/** Runs before the page is painted, to apply the colors that the user chose in GraphiQL. */
export const THEME_SCRIPT = `'use strict';
try {
  const theme = Object.entries(localStorage).find(([key]) => /^job-marketplace:.*:graphiql:theme$/.test(key));
  if (theme?.[1]) document.body.classList.add('graphiql-' + theme[1]);
} catch {
  // The browser blocks storage.
}
`;

const SCRIPT = String.raw`'use strict';
import { openGuide } from './guide.js';
import { send } from './memory.js';
import { ifStorageAllows } from './session.js';

const settings = SETTINGS;
const tabs = settings.steps.map(({ tab }) => tab);

// Other projects' GraphiQLs at the same address (often localhost:4000) keep their tabs, and this one keeps its own.
// Tabs of an older edition aren't used. A tab can contain a password, so only the theme is stored on the disk.
const OURS = 'job-marketplace:';
const OWN = OURS + settings.edition + ':';
const THEME = 'graphiql:theme';
const areaOf = (key) => (key === THEME ? localStorage : sessionStorage);
const keysOf = (area, prefix) => Object.keys(area).filter((key) => key.startsWith(prefix));
const storage = {
  getItem: (key) => areaOf(key).getItem(OWN + key),
  setItem: (key, value) => areaOf(key).setItem(OWN + key, value),
  removeItem: (key) => areaOf(key).removeItem(OWN + key),
  clear: () => keysOf(sessionStorage, OWN).forEach((key) => sessionStorage.removeItem(key)),
  get length() { return keysOf(sessionStorage, OWN).length; },
};
// Without storage, GraphiQL works, but forgets the tabs.
const usedStorage = ifStorageAllows(() => {
  for (const key of keysOf(localStorage, OURS)) if (key !== OWN + THEME) localStorage.removeItem(key);
  return storage;
}) ?? null;

const workerOf = (_, label) => settings.folder + '/' + label.replace('WorkerService', '') + '.worker.js';
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: workerOf };

// Dragging is off: GraphiQL measures the tabs before they're in place. A tab then jumps away from the pointer and
// misses the click.
const onTab = (event) => event.target instanceof Element && event.target.closest('.graphiql-tab');
document.addEventListener('pointerdown', (event) => onTab(event) && event.stopPropagation(), true);

openGuide(settings.steps, usedStorage);

/** In a narrow window, the response is below the editors and out of sight. */
function sendAndShow(params, options) {
  if (params.operationName !== 'IntrospectionQuery')
    document.querySelector('.graphiql-response')?.scrollIntoView({ block: 'nearest' });
  return send(params, options);
}

// GraphiQL needs its first query. Without one, it adds an empty tab to those that it kept.
const kept = JSON.parse(usedStorage?.getItem('graphiql:tabState') ?? '{}');
const first = kept.tabs?.[kept.activeTabIndex] ?? tabs[0];
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), {
  title: 'Job Marketplace',
  defaultTabs: tabs,
  query: first.query,
  variables: first.variables ?? '',
  initialHeaders: first.headers ?? '',
  fetcher: sendAndShow,
  storage: usedStorage,
  // GraphiQL would write the query into the address, and a reload would then run it instead of loading the page.
  onEditQuery: () => {},
});
`;
