/**
 * Random documents from random people with random variables. Our executor's response must match graphql-js byte for
 * byte, including errors, starting with a document's first call. Each document is sent in two versions, and graphql-js
 * runs one of them. FUZZ_DOCUMENTS sets the number. A failure prints its FUZZ_SEED, which repeats the same documents.
 */
import { getLocation, parse, print, visit, type DocumentNode } from 'graphql';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { BY_A_PLAN, BY_GRAPHQL_JS, planned } from '../../../setup/plans.js';
import { answerTo, sameAnswer, withoutWide, type Answer } from './answers.js';
import { asking, openBadTokens, type Askers, type Asking } from './askings.js';
import { diceOf } from '../../../setup/random/dice.js';
import { validDocument, validPage } from './documents.js';
import { jsonText } from '../requests/json-text.js';
import { reducedDocument } from './reduce-document.js';
import { operationsIn } from './sites.js';
import { EVERYBODY, openStock, type Stock } from '../requests/stock.js';
import { ANY_LIST, varied } from './variations.js';
import { Line } from '../wire.js';
import { seedFrom } from '../../../setup/random/seed.js';
import { printFigures } from '../../figures.js';

vi.mock('../../../../src/platform/graphql/executor/plan.js', async (original) => {
  const { observed } = await import('../../../setup/plans.js');
  return observed(await original());
});
vi.mock('../../../../src/graphql/schema.js', async (original) => {
  const { schema } = await original<typeof import('../../../../src/graphql/schema.js')>();
  const { withFailingFields } = await import('./failing-fields.js');
  return { schema: withFailingFields(schema) };
});

const DOCUMENTS = Number(process.env.FUZZ_DOCUMENTS ?? 500);
const SEED = seedFrom(process.env.FUZZ_SEED);
const FAILURES_MAX = 5;
const ASKINGS = 2;
/** Once with a new plan, and once with a plan that has already run. */
const ROUNDS = 2;
/** While one waits for the database, another is sent. */
const LINES = 3;

let app: TestApp;
let lines: Line[];
let askers: Askers;
let began: number;
beforeAll(async () => {
  // Thousands of documents may take longer than an access token lasts.
  app = await openTestApp({}, { tokensLast: true });
  lines = Array.from({ length: LINES }, () => new Line(Number(new URL(app.url).port)));
  const bad = await openBadTokens(app);
  askers = { stock: await unchanging(await openStock(app, { jobs: 1, spares: 1 }), bad.ended), bad };
  began = Date.now();
});
afterAll(async () => {
  for (const line of lines) line.close();
  await app.close();
});

it(
  `${DOCUMENTS} random documents have the same result with our executor and with graphql-js`,
  async () => {
    const failures: string[] = [];
    const tally = new Tally();
    // Two dry runs on the same rows would wait for each other.
    let changing: Promise<void> = Promise.resolve();
    let next = 0;

    async function compareOne(line: Line, number: number, generated: Generated): Promise<void> {
      const found = await compared(line, generated);
      tally.count(found);
      if (found.difference === undefined) return;
      failures.push(`FUZZ_SEED=${SEED}, document ${number}:\n${await reduced(line, generated, found.difference)}`);
    }

    async function compareAll(line: Line): Promise<void> {
      while (next < DOCUMENTS && failures.length < FAILURES_MAX) {
        const number = next++;
        const generated = documentOf(number);
        const compare = () => compareOne(line, number, generated);
        await (isMutation(generated) ? (changing = changing.then(compare)) : compare());
      }
    }

    await Promise.all(lines.map(compareAll));
    printFigures(`FUZZ_SEED=${SEED}: ${JSON.stringify(tally)}`);
    expect(failures.join('\n\n')).toBe('');
    // The documents were a meaningful test.
    expect(tally.planned / DOCUMENTS).toBeGreaterThan(atLeast(0.5));
    expect(tally.complete / DOCUMENTS).toBeGreaterThan(atLeast(0.5));
    expect(tally.partial / DOCUMENTS).toBeGreaterThan(atLeast(0.2));
    expect(tally.changed / DOCUMENTS).toBeGreaterThan(atLeast(0.1));
    expect(Object.keys(tally.codes)).toEqual(
      expect.arrayContaining(['VALIDATION_FAILED', 'NOT_FOUND', 'FORBIDDEN', 'UNAUTHENTICATED']),
    );
  },
  // A busy machine takes a long time. This only catches hangs.
  600_000 + DOCUMENTS * 2_000,
);

/** A share of all documents, minus three standard deviations for chance. */
function atLeast(share: number): number {
  return share - 3 * Math.sqrt((share * (1 - share)) / DOCUMENTS);
}

interface Generated {
  readonly document: DocumentNode;
  readonly askings: readonly Asking[];
}

/** Each document has separate dice, so it doesn't depend on the others. */
function documentOf(number: number): Generated {
  const dice = diceOf(SEED + number * 7_919);
  const written = dice.percent(30) ? validPage(askers.stock, dice) : validDocument(askers.stock, dice);
  const made = varied(written.text, written.variables, askers.stock, dice);
  return {
    document: made.document,
    askings: Array.from({ length: ASKINGS }, () => asking(made, written.token, askers, dice)),
  };
}

function isMutation({ document }: Generated): boolean {
  return operationsIn(document).some(({ operation }) => operation === 'mutation');
}

interface Found {
  readonly plain: readonly Answer[];
  readonly isPlanned: boolean;
  readonly difference: string | undefined;
}

let sent = 0;

/** Sends every variant twice. Data left in a plan by one call must not show in another's response. */
async function compared(line: Line, { document, askings }: Generated): Promise<Found> {
  const text = print(document);
  const numbered = `${text} # ${(sent += 1)}`;
  const own = `${numbered} ${BY_A_PLAN}`;
  const plain: Answer[] = [];
  for (const one of askings) plain.push(await answerTo(line, `${numbered} ${BY_GRAPHQL_JS}`, one, began));
  let difference: string | undefined;
  for (let time = 0; time < ROUNDS * askings.length && difference === undefined; time += 1) {
    const [one, expected] = [askings[time % askings.length], plain[time % askings.length]] as [Asking, Answer];
    const answer = await answerTo(line, own, one, began);
    const ask: Ask = (mark, again = numbered) => answerTo(line, `${again} ${mark}`, one, began);
    if (sameAnswer(answer, expected) || (await differInTime(expected, answer, numbered, ask))) continue;
    difference = describeDifference(text, one, expected, answer);
  }
  return { plain, isPlanned: planned.runs.delete(own), difference };
}

type Ask = (mark: string, text?: string) => Promise<Answer>;

const TRIES_MAX = 30;

/**
 * If several fields fail while others wait for the database, the first failure makes their common parent null. Only it
 * and earlier errors are reported. Which errors those are depends on timing, for graphql-js too. Everything else must
 * match. After enough tries, both must report the same error at least once, or each must report the other's next.
 */
async function differInTime(expected: Answer, answer: Answer, text: string, ask: Ask): Promise<boolean> {
  const [plain, ours] = [withoutWide(expected), withoutWide(answer)];
  if (plain.rest !== ours.rest) return false;
  const [byGraphqlJs, byPlan] = [new Set(plain.wide), new Set(ours.wide)];
  for (let time = 0; time < TRIES_MAX; time += 1) {
    if ([...byGraphqlJs].some((error) => byPlan.has(error))) return true;
    for (const error of withoutWide(await ask(BY_GRAPHQL_JS)).wide) byGraphqlJs.add(error);
    for (const error of withoutWide(await ask(BY_A_PLAN)).wide) byPlan.add(error);
  }
  return (
    (await reportsNext(byGraphqlJs, byPlan, text, (left) => ask(BY_GRAPHQL_JS, left))) &&
    (await reportsNext(byPlan, byGraphqlJs, text, (left) => ask(BY_A_PLAN, left)))
  );
}

const SKIPS_MAX = 5;

/** True if one of the other errors is reported once the fields with the errors before it are skipped. */
async function reportsNext(
  first: ReadonlySet<string>,
  others: ReadonlySet<string>,
  text: string,
  ask: (text: string) => Promise<Answer>,
): Promise<boolean> {
  let [left, reported] = [text, [...first]];
  for (let time = 0; time < SKIPS_MAX && reported.length > 0; time += 1) {
    left = withSkipped(left, reported);
    reported = [...withoutWide(await ask(left)).wide];
    if (reported.some((error) => others.has(error))) return true;
  }
  return false;
}

/** Every field has its own line, so the other fields keep their positions. */
function withSkipped(text: string, errors: readonly string[]): string {
  const places = new Set(errors.flatMap((error) => (JSON.parse(error) as Json).locations.map(placeOf)));
  const [skip] = (parse('{ a @skip(if: true) }').definitions[0] as Json).selectionSet.selections[0].directives;
  const skipped = visit(parse(text), {
    Field: (field) =>
      places.has(placeOf(getLocation(field.loc!.source, field.loc!.start)))
        ? { ...field, directives: [...(field.directives ?? []).filter(({ name }) => name.value !== 'skip'), skip] }
        : undefined,
  });
  return print(skipped);
}

const placeOf = ({ line, column }: { line: number; column: number }) => `${line}:${column}`;

async function reduced(line: Line, { document, askings }: Generated, first: string): Promise<string> {
  let last = first;
  await reducedDocument(document, async (smaller) => {
    const { difference } = await compared(line, { document: smaller, askings });
    last = difference ?? last;
    return difference !== undefined;
  });
  return last;
}

function describeDifference(
  text: string,
  { token, variables, operationName, someFail }: Asking,
  plain: Answer,
  answer: Answer,
): string {
  const { stock, bad } = askers;
  const who =
    EVERYBODY.find((one) => stock.token(one) === token) ??
    Object.entries(bad).find(([, one]) => one === token)?.[0] ??
    'nobody';
  const asked = [
    text,
    `variables: ${jsonText(variables)}`,
    `operationName: ${jsonText(operationName)}`,
    `asked by: ${who}`,
  ];
  const failing = someFail ? ', and some fields fail' : '';
  const answers = [`graphql-js: ${plain.status} ${plain.text}`, `our own:    ${answer.status} ${answer.text}`];
  return `${asked.join('\n')}${failing}\n${answers.join('\n')}`;
}

class Tally {
  planned = 0;
  complete = 0;
  partial = 0;
  refused = 0;
  changed = 0;
  readonly codes: Record<string, number> = {};

  count({ plain, isPlanned }: Found): void {
    this.planned += Number(isPlanned);
    for (const { status, text } of plain) {
      const { errors }: Json = JSON.parse(text);
      if (status !== 200) this.refused += 1;
      else if (errors) this.partial += 1;
      else this.complete += 1;
      if (!errors && text.includes('"dryRun"')) this.changed += 1;
      for (const { extensions } of errors ?? []) this.codes[extensions.code] = (this.codes[extensions.code] ?? 0) + 1;
    }
  }
}

const CURSORS = `{
  jobs(first: 3) {
    edges { cursor }
    nodes { bids(first: 2) { edges { cursor } } timeline(first: 2) { edges { cursor } } }
  }
  users(first: 3) { edges { cursor } }
}`;

/**
 * A stock that never runs out. Calls that would end a session or create an account use sessions that have already ended
 * and accounts that already exist.
 */
async function unchanging(stock: Stock, ended: string): Promise<Stock> {
  const { email, password } = stock.people.owner;
  const taken = {
    email: 'ntaken@example.test',
    password: 'a password of mine',
    first_name: 'Nina',
    last_name: 'Taken',
  };
  await app.rest('POST', '/v1/auth/signup/homeowner', { body: taken });
  const { jobs, users } = (await app.graphql(CURSORS, { token: stock.token('admin') })).data;
  const lists: Record<string, Json[]> = {
    JobConnection: jobs.edges,
    UserConnection: users.edges,
    BidConnection: jobs.nodes.flatMap(({ bids }: Json) => bids.edges),
    JobEventConnection: jobs.nodes.flatMap(({ timeline }: Json) => timeline.edges),
  };
  for (const [list, edges] of Object.entries(lists)) {
    for (const { cursor } of edges) for (const name of [list, ANY_LIST]) stock.keepCursor(name, cursor);
  }
  const spare = () => ({
    userId: `usr_${'0'.repeat(27)}`,
    email,
    password,
    token: ended,
    refreshToken: `rft_${'0'.repeat(27)}`,
    sessionId: `ses_${'0'.repeat(27)}`,
    apiKeyId: `key_${'0'.repeat(27)}`,
    webhookId: `whk_${'0'.repeat(27)}`,
    deliveryId: `dlv_${'0'.repeat(27)}`,
    links: {
      password_reset: '',
      password_reset_by_support: '',
      password_reset_after_undo: '',
      email_verification: '',
      email_change: '',
      email_changed: '',
      email_undo_granted: '',
    },
  });
  return { ...stock, spare, lend: spare, unheard: () => 'taken' };
}
