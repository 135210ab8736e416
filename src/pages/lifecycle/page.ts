/**
 * The page at /lifecycle: the life of a job as a picture, where somebody's job stands in it, and all of it as text. It
 * asks through REST, which works with any settings.
 */
import { HTML, htmlPage } from '../../platform/http/pages/look.js';
import { openPages, type Pages } from '../../platform/http/pages/pages.js';
import { SESSION_SCRIPT } from '../session-script.js';
import { JOB_ACTION_LIST } from '../../market/rules/lifecycle.js';
import { JOB_STATE_ROWS, JOB_STATES, type JobState } from '../../market/rules/states.js';
import { wordsOf } from '../../market/rules/words.js';
import { drawPicture } from './picture.js';
import { START_SCRIPT } from './script.js';
import { STYLES } from './styles.js';
import { ARROWS, type Arrow } from './words.js';

const FOLDER = '/lifecycle';

/** Given are the operations that a step of the playground performs; a playground that is off is not named. */
export function openLifecyclePage(played: ReadonlySet<string> | undefined): Pages {
  const page = { contentType: HTML, read: async () => lifecyclePage(played) };
  return openPages({
    [FOLDER]: page,
    [`${FOLDER}/`]: page,
    [`${FOLDER}/start.js`]: START_SCRIPT,
    [`${FOLDER}/session.js`]: SESSION_SCRIPT,
  });
}

function lifecyclePage(played: ReadonlySet<string> | undefined): string {
  const body = `
    <header>
      <h1>The life of a job</h1>
      <nav aria-label="Elsewhere">
        ${played ? '<a href="/graphql">Playground</a>' : ''}
        <a href="/v1/docs">REST reference</a>
        <a href="#steps">As text</a>
      </nav>
    </header>
    <main>
      <div class="picture">${drawPicture()}</div>
      <div class="side">
        <section id="words" aria-live="polite" aria-label="The state or step that is pointed at">
          <p class="hint">Point at a line or a box of the picture, or press the Tab key, to read what it means.</p>
        </section>
        <section id="yours" aria-label="Where does my job stand?">
          <h2>Where does my job stand?</h2>
          <form id="log-in" aria-label="Log in">
            <label>Email <input name="email" type="email" autocomplete="username" required /></label>
            <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
            <button>Log in</button>
            ${played ? '<p class="hint">The session of the playground is used here too.</p>' : ''}
          </form>
          <div id="signed-in" hidden>
            <p><label>Signed in as <select id="as"></select></label>
              <button id="log-out" type="button">Forget me</button></p>
            <form id="choose" aria-label="Choose a job">
              <label>Job <select id="job"></select></label>
              <label>or its id <input id="job-id" placeholder="job_…" autocomplete="off" spellcheck="false" /></label>
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
        <table role="table">${JOB_STATES.map(stateRow).join('')}</table>
      </section>
    </main>
    <noscript>Without JavaScript the picture leads to its text, and cannot show where a job of yours stands.</noscript>
    <script src="${FOLDER}/start.js" type="module"></script>`;
  return htmlPage({ title: 'Job Marketplace · The life of a job', styles: STYLES, body });
}

function stepRow({ id, description, words }: Arrow, played: ReadonlySet<string> | undefined): string {
  const { Operation: name } = words;
  const operation = played?.has(name) ? `<a href="/graphql#${name}">${name}</a>` : name;
  return row(`step-${id}`, id, description, { ...words, Operation: operation });
}

function stateRow(state: JobState): string {
  const steps = JOB_ACTION_LIST.filter(({ from }) => from.includes(state)).map(({ action }) => wordsOf(action));
  const next = steps.join(', ') || 'nothing leads out of it';
  return row(`state-${state}`, state, JOB_STATE_ROWS[state].description, { 'From here': next });
}

/** The roles are named since the styles lay the cells out one below the other, which takes the table's own away. */
function row(id: string, name: string, description: string, more: Readonly<Record<string, string>>): string {
  const cells = Object.entries(more).map(([head, text]) => `<td role="cell" data-head="${head}">${text}</td>`);
  return (
    `<tr role="row" id="${id}" aria-label="${wordsOf(name)}"><th role="rowheader" scope="row">${wordsOf(name)}</th>` +
    `<td role="cell">${description}</td>${cells.join('')}</tr>`
  );
}
