/** If fields contradict each other, the error names them along with all other problems. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/market/store/new-id.js';
import { APIS, outcomeOf, type OperationKey } from '../../story/calls.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { gather, givenJob, type People } from '../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

const BUDGETS = { budget_min: 9, budget_max: 8 };
const DATES = { desired_start_date: '2026-05-02', desired_completion_date: '2026-05-01' };

const REFUSED: [what: string, key: OperationKey, body: object, fields: string[]][] = [
  ['budgets', 'create', { title: 'A', description: 'B', ...BUDGETS }, ['budget_max', 'budget_min']],
  [
    'budgets, dates and a blank title',
    'create',
    { title: ' ', description: 'B', ...BUDGETS, ...DATES },
    ['budget_max', 'budget_min', 'desired_completion_date', 'desired_start_date', 'title'],
  ],
  [
    'budgets of which one is no sum, and dates',
    'create',
    { title: 'A', description: 'B', budget_min: 9.999, budget_max: 8, ...DATES },
    ['budget_min', 'desired_completion_date', 'desired_start_date'],
  ],
  ['dates and a long title', 'update', { ...DATES, title: 'A'.repeat(201) }, [...Object.keys(DATES).sort(), 'title']],
];

describe.each(APIS)('contradicting fields in %s', (api) => {
  test.each(REFUSED)('%s are all named', async (_, key, body, fields) => {
    const { id } = await givenJob(app, 'draft', people);
    const { status, code, fields: named } = await outcomeOf(app, api, key, { by: people.owner, job: id, body });
    expect([status, code, named]).toEqual([400, 'VALIDATION_FAILED', fields]);
  });

  test('are checked before the job is read and after the role', async () => {
    const asked = { job: newId('job'), body: BUDGETS };
    const found = async (who: keyof People) =>
      (await outcomeOf(app, api, 'update', { ...asked, by: people[who] })).code;
    expect([await found('owner'), await found('stranger')]).toEqual(['VALIDATION_FAILED', 'FORBIDDEN']);
  });

  test('are compared with the stored job if only one of them is sent', async () => {
    const { id } = await givenJob(app, 'draft', people);
    const edit = (body: object) => outcomeOf(app, api, 'update', { by: people.owner, job: id, body });
    expect((await edit({ budget_min: 10, budget_max: 20 })).ok).toBe(true);
    expect(await edit({ budget_min: 21 })).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['budget_min'] });
    expect((await edit({ budget_min: null, budget_max: 5 })).ok).toBe(true);
  });
});
