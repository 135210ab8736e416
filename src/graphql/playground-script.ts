/**
 * What the playground adds to GraphiQL, as text that runs in the browser: it remembers the tokens and ids of the
 * answers, and puts them where a tab says {{homeowner}}, {{contractor}}, {{job}} or {{bid}}, so that nobody copies them
 * by hand.
 */
export const STARTER_SCRIPT = String.raw`'use strict';
(() => {
  const settings = SETTINGS;

  // What was learned lasts as long as the browser's tab.
  const MEMORY = 'job-marketplace:memory';
  const known = JSON.parse(sessionStorage.getItem(MEMORY) ?? '{}');
  const HOW = {
    homeowner: 'run the tab SignUp first',
    contractor: 'run the tab SignUpContractor first',
    job: 'run the tab CreateJob first',
    bid: 'run the tab SubmitBid first',
  };

  function remember(name, value) {
    known[name] = value;
    sessionStorage.setItem(MEMORY, JSON.stringify(known));
  }

  // Every session's token, under the role it is for, and the id of the last job and bid.
  function learn(data) {
    for (const result of Object.values(data ?? {})) {
      if (typeof result?.token === 'string') learnToken(result.token);
      const kind = /^(job|bid)_/.exec(result?.id)?.[1];
      if (kind) remember(kind, result.id);
    }
  }

  function learnToken(token) {
    const claims = token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
    remember('token', token);
    remember(JSON.parse(atob(claims)).role, token);
  }

  function fill(value, missing) {
    if (typeof value === 'string') return fillText(value, missing);
    if (Array.isArray(value)) return value.map((item) => fill(item, missing));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, missing)]));
  }

  function fillText(text, missing) {
    return text.replace(/\{\{(\w+)\}\}/g, (whole, name) => {
      if (name === 'random') return Math.random().toString(36).slice(2, 10);
      if (typeof known[name] === 'string') return known[name];
      missing.add(whole);
      return whole;
    });
  }

  async function send({ query, operationName, variables }, { headers } = {}) {
    const missing = new Set();
    const sent = new Headers({ accept: 'application/json', 'content-type': 'application/json', ...fill(headers ?? {}, missing) });
    const body = JSON.stringify({ query, operationName: nameIn(query, operationName), variables: fill(variables, missing) });
    if (missing.size > 0) return { errors: [...missing].map(notSent) };
    if (!sent.has('authorization') && known.token) sent.set('authorization', 'Bearer ' + known.token);
    const response = await fetch(location.pathname, { method: 'POST', headers: sent, body });
    const answer = await response.json();
    learn(answer.data);
    return answer;
  }

  // Right after a change of tabs, GraphiQL still says the name of the other tab's operation.
  function nameIn(query, name) {
    return name && new RegExp('\\b(query|mutation|subscription)\\s+' + name + '\\b').test(query) ? name : undefined;
  }

  function notSent(placeholder) {
    const how = HOW[placeholder.slice(2, -2)] ?? 'the page knows {{' + Object.keys(HOW).join('}}, {{') + '}} and {{random}}';
    return { message: 'Nothing was sent: this page does not know ' + placeholder + ' yet; ' + how + '.' };
  }

  // Other GraphiQLs of the same address (localhost:4000 is a busy place) keep their tabs, and this one keeps its own.
  const OWN = 'job-marketplace:';
  const ownKeys = () => Object.keys(localStorage).filter((key) => key.startsWith(OWN));
  const storage = {
    getItem: (key) => localStorage.getItem(OWN + key),
    setItem: (key, value) => localStorage.setItem(OWN + key, value),
    removeItem: (key) => localStorage.removeItem(OWN + key),
    clear: () => ownKeys().forEach((key) => localStorage.removeItem(key)),
    get length() {
      return ownKeys().length;
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
  self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_, label) => settings.folder + '/' + WORKERS[label] + '.worker.js' };

  // Tabs that can be dragged jump away from the pointer, which loses the click: GraphiQL measures them before they have
  // their places. So they stay where they are; the page's styles see to the rest.
  const onTab = (event) => event.target instanceof Element && event.target.closest('.graphiql-tab');
  document.addEventListener('pointerdown', (event) => onTab(event) && event.stopPropagation(), true);

  const begun = lastOpenTab() ?? settings.tabs[0];
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), {
    title: settings.title,
    logo: settings.logo,
    defaultTabs: settings.tabs,
    // GraphiQL must be told what it begins with: it keeps the tabs, but would add an empty one beside them.
    query: begun.query,
    variables: begun.variables ?? '',
    initialHeaders: begun.headers ?? '',
    fetcher: send,
    storage,
    // GraphiQL would write what is typed into the address, and a reload would then ask the API instead of the page.
    onEditQuery: () => {},
  });
})();
`;
