/** The page of the lifecycle: the picture, where somebody's job stands in it, and all of it again as text. */
import { JOB_ACTION_LIST, type PartyWord } from '../rules/lifecycle.js';
import { JOB_STATE_ROWS, JOB_STATES, type JobState } from '../rules/states.js';
import { PARTY_WORDS } from '../rules/parties.js';
import { wordsOf } from '../rules/words.js';
import { diagramOf } from './diagram.js';
import { ACTORS, pictureOf } from './picture.js';
import { STYLES } from './styles.js';
import { SHORT_PARTIES, STEPS, type Step } from './words.js';

export const FOLDER = '/lifecycle';

/** A playground that is off is not named. */
export function lifecyclePage(hasPlayground: boolean): string {
  const links = [
    ...(hasPlayground ? ['<a href="/graphql">Playground</a>'] : []),
    '<a href="/v1/docs">REST reference</a>',
    '<a href="#steps">As text</a>',
  ];
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Job Marketplace · The life of a job</title>
    <link rel="icon" href="data:," />
    <style>${STYLES}</style>
  </head>
  <body>
    <header>
      <h1>The life of a job</h1>
      <nav aria-label="Elsewhere">${links.join('\n')}</nav>
    </header>
    <main>
      <div class="side">
        <section id="words" aria-live="polite" aria-label="The state or step that is pointed at">
          <p class="hint">Point at a line or a box of the picture, or go through it by the Tab key, to read what it
            means.</p>
        </section>
        ${YOURS(hasPlayground)}
      </div>
      <figure>
        ${pictureOf(diagramOf())}
        <figcaption>${ACTORS.map(legend).join('')}</figcaption>
      </figure>
      <section class="text" id="steps">
        <h2>Every step</h2>
        ${stepsTable()}
        <h2 id="states">Every state</h2>
        <dl>${JOB_STATES.map(stateWords).join('')}</dl>
      </section>
    </main>
    <noscript>Without JavaScript the picture leads to its text, and cannot show where a job of yours stands.</noscript>
    <script src="${FOLDER}/start.js" type="module"></script>
  </body>
</html>
`;
}

const YOURS = (hasPlayground: boolean) => `<details id="yours">
          <summary>Where does my job stand?</summary>
          <form id="log-in" aria-label="Log in">
            <label>Email <input name="email" type="email" autocomplete="username" required /></label>
            <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
            <button>Log in</button>
            ${hasPlayground ? '<p class="hint">The session of the playground is used here too.</p>' : ''}
          </form>
          <div id="signed-in" hidden>
            <p><label>Signed in as <select id="as"></select></label>
              <button id="log-out" type="button">Forget me</button></p>
            <form id="choose" aria-label="Choose a job">
              <label>Job <select id="job"></select></label>
              <label>or its id <input id="job-id" placeholder="job_…" autocomplete="off" spellcheck="false" /></label>
              <button>Show</button>
            </form>
            <div id="where" aria-live="polite"></div>
          </div>
          <p id="problem" role="alert"></p>
        </details>`;

function legend(by: PartyWord): string {
  return `<span class="key by-${by}"><i></i>${SHORT_PARTIES[by]}: ${PARTY_WORDS[by].description}</span>`;
}

const COLUMNS = ['Step', 'What it means', 'Who', 'From', 'To', 'What happens besides', 'Cost', 'Operation'] as const;

/** The roles are named since narrow windows lay the cells out one below the other, which takes the table's own away. */
function stepsTable(): string {
  const heads = COLUMNS.map((name) => `<th role="columnheader" scope="col">${name}</th>`).join('');
  return (
    `<table role="table"><thead role="rowgroup"><tr role="row">${heads}</tr></thead>` +
    `<tbody role="rowgroup">${STEPS.map(stepRow).join('\n')}</tbody></table>`
  );
}

function stepRow(step: Step): string {
  const cells = [
    step.description,
    step.who,
    step.from,
    step.to,
    step.effects.length > 0 ? step.effects.join('; ') : 'nothing',
    step.cost,
    `<code>${step.operation}</code>`,
  ];
  const texts = cells.map((text, at) => `<td role="cell" data-head="${COLUMNS[at + 1]}">${text}</td>`).join('');
  return `<tr role="row" id="step-${step.id}"><th role="rowheader" scope="row">${step.name}</th>${texts}</tr>`;
}

function stateWords(state: JobState): string {
  const steps = JOB_ACTION_LIST.filter(({ from }) => from.includes(state)).map(({ action }) => wordsOf(action));
  const next = steps.length > 0 ? `From here: ${steps.join(', ')}.` : 'Nothing leads out of it.';
  const words = `${JOB_STATE_ROWS[state].description} <span class="ways">${next}</span>`;
  return `<dt id="state-${state}">${wordsOf(state)}</dt><dd>${words}</dd>`;
}
