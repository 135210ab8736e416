/**
 * The page at /lifecycle: a job's lifecycle, with the state of the viewer's own job. It uses REST, which works with any
 * settings.
 */
import { HTML, htmlPage, type SiteLinks } from '../../platform/http/pages/look.js';
import { openPages, type Pages } from '../../platform/http/pages/pages.js';
import { SESSION_SCRIPT } from '../session-script.js';
import type { DeadlineSettings } from '../../market/rules/jobs/deadlines.js';
import { JOB_ACTION_LIST } from '../../market/rules/lifecycle.js';
import { JOB_STATE_ROWS, JOB_STATES, type JobState } from '../../market/rules/states.js';
import { wordsOf } from '../../market/rules/words.js';
import { drawPicture } from './picture.js';
import { START_SCRIPT } from './script.js';
import { STYLES } from './styles.js';
import { ARROWS, deadlineIn, type Arrow } from './words.js';

const FOLDER = '/lifecycle';

/** `played` holds the operations in the playground's steps. Undefined if the playground is off. */
export function openLifecyclePage(
  links: SiteLinks,
  played: ReadonlySet<string> | undefined,
  deadlines: DeadlineSettings,
): Pages {
  const page = { contentType: HTML, read: async () => lifecyclePage(links, played, deadlines) };
  return openPages({
    [FOLDER]: page,
    [`${FOLDER}/`]: page,
    [`${FOLDER}/start.js`]: START_SCRIPT,
    [`${FOLDER}/session.js`]: SESSION_SCRIPT,
  });
}

function lifecyclePage(links: SiteLinks, played: ReadonlySet<string> | undefined, deadlines: DeadlineSettings): string {
  const body = `
    <main>
      <h1>The life of a job <a href="#steps">As text</a></h1>
      <div class="picture">${drawPicture(deadlines)}</div>
      <div class="side">
        <section id="words" aria-live="polite" aria-label="The selected state or step">
          <p class="hint">Point to a line or box, or press Tab, to read what it means.</p>
        </section>
        <section id="yours" aria-label="Where is my job?">
          <h2>Where is my job?</h2>
          <form id="log-in" aria-label="Log in">
            <label>Email <input name="email" type="email" autocomplete="username" required /></label>
            <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
            <button>Log in</button>
            ${played ? '<p class="hint">If you’re signed in to the playground, you’re signed in here too.</p>' : ''}
          </form>
          <div id="signed-in" hidden>
            <p><label>Signed in as <select id="as"></select></label>
              <button id="log-out" type="button">Forget me</button></p>
            <form id="choose" aria-label="Choose a job">
              <label>Job <select id="job"></select></label>
              <label>or its ID <input id="job-id" placeholder="job_…" autocomplete="off" spellcheck="false" /></label>
              <button>Show</button>
            </form>
          </div>
          <p id="problem" role="alert"></p>
          <div id="where" aria-live="polite"></div>
        </section>
      </div>
      <section class="text" id="steps">
        <h2>Every step</h2>
        <table role="table">${ARROWS.map((step) => stepRow(step, played)).join('')}</table>
        <h2>Every state</h2>
        <table role="table">${JOB_STATES.map((state) => stateRow(state, deadlines)).join('')}</table>
      </section>
    </main>
    <noscript>Without JavaScript, this page can’t show where your job is.</noscript>
    <script src="${FOLDER}/start.js" type="module"></script>`;
  return htmlPage({ title: 'Job Marketplace · The life of a job', styles: STYLES, body, links, path: FOLDER });
}

function stepRow({ id, description, words }: Arrow, played: ReadonlySet<string> | undefined): string {
  const { Operation: name } = words;
  const operation = played?.has(name) ? `<a href="/graphql#${name}">${name}</a>` : name;
  return row(`step-${id}`, id, description, { ...words, Operation: operation });
}

function stateRow(state: JobState, deadlines: DeadlineSettings): string {
  const steps = JOB_ACTION_LIST.filter(({ from }) => from.includes(state)).map(({ action }) => wordsOf(action));
  const next = steps.join(', ') || 'nothing: this state is final';
  const deadline = deadlineIn(state, deadlines);
  const words = { 'From here': next, ...(deadline !== undefined && { Deadline: deadline }) };
  return row(`state-${state}`, state, JOB_STATE_ROWS[state].description, words);
}

/** The styles stack the cells, and browsers then drop the table's roles. So the roles are explicit. */
function row(id: string, name: string, description: string, more: Readonly<Record<string, string>>): string {
  const cells = Object.entries(more).map(([head, text]) => `<td role="cell" data-head="${head}">${text}</td>`);
  return (
    `<tr role="row" id="${id}" aria-label="${wordsOf(name)}"><th role="rowheader" scope="row">${wordsOf(name)}</th>` +
    `<td role="cell">${description}</td>${cells.join('')}</tr>`
  );
}
