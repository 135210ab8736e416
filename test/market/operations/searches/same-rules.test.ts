/** With the same filter, a saved search matches exactly the jobs in the list of open jobs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { diceOf } from '../../../setup/random/dice.js';
import { seedFrom } from '../../../setup/random/seed.js';
import { callRest } from '../../../story/calls.js';
import { contractor, type Person } from '../../../story/cast.js';
import { DRAFT, gather, giveTokens, type People } from '../../../story/journey.js';
import { allNumbered } from '../../../platform/live/positions.js';
import { until } from '../../../platform/security/until.js';

const SEED = seedFrom(process.env.FC_SEED);
const SEARCHES = 40;
const JOBS = 30;

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  await giveTokens(app, people.admin, people.owner, 100_000);
});
afterAll(() => app.close());

const LIST = `query ($filter: JobFilter, $after: String) { jobs(filter: $filter, first: 100, after: $after) {
  nodes { id } pageInfo { hasNextPage } } }`;

it(`random filters match the jobs that the list shows (FC_SEED=${SEED})`, async () => {
  const dice = diceOf(SEED);
  const maybe = <T>(percent: number, value: () => T) => (dice.percent(percent) ? value() : null);
  const places = [
    { city: 'Austin', state: 'TX', zip_code: '78701' },
    { city: 'Round Rock', state: 'TX', zip_code: '78664' },
    { city: 'Dallas', state: 'TX', zip_code: '75201' },
  ];
  const trades = ['roofing', 'siding', 'plumbing'];
  const words = ['roof', 'Leaking', '50% off', 'a_b', 'Ünder'];
  const amounts = [0, 100, 250.5, 500, 1_000];

  const filters: { readonly by: Person; readonly filter: Json }[] = [];
  while (filters.length < SEARCHES) {
    const [low, high] = [dice.pick(amounts), dice.pick(amounts)].toSorted((one, other) => one - other);
    const filter = {
      search: maybe(30, () => dice.pick(words)),
      categories: maybe(60, () => [...new Set([dice.pick(trades), dice.pick(trades)])]),
      urgency: maybe(20, () => dice.pick(['STANDARD', 'PRIORITY'])),
      budgetMin: maybe(30, () => low),
      budgetMax: maybe(30, () => high),
      near: maybe(40, () => ({ zipCode: dice.pick(places).zip_code, withinMiles: dice.pick([1, 20, 200]) })),
    };
    if (!filter.categories && !filter.near && !filter.search) continue;
    const by = await contractor(app, 'Rosa');
    const { errors } = await app.graphql(
      `mutation ($filter: CreateSavedSearchFilterInput!) {
        createSavedSearch(input: { name: "Leads", alert: OFF, filter: $filter }) { savedSearch { id } } }`,
      { token: by.token, variables: { filter } },
    );
    expect(errors).toBeUndefined();
    filters.push({ by, filter });
  }

  for (let at = 0; at < JOBS; at += 1) {
    const [low, high] = [dice.pick(amounts), dice.pick(amounts)].toSorted((one, other) => one - other);
    const body = {
      ...DRAFT,
      ...dice.pick(places),
      title: `Mend the ${dice.pick(words)}`,
      description: dice.pick(words),
      category: dice.pick(trades),
      urgency: dice.pick(['standard', 'priority']),
      budget_min: maybe(60, () => low),
      budget_max: maybe(60, () => high),
    };
    const { body: job } = await callRest(app, 'create', { by: people.owner, body });
    expect((await callRest(app, 'publish', { by: people.owner, job: job.id })).status).toBe(200);
  }
  await allNumbered(app);
  await until(
    async () =>
      (await app.sql`select from search_cursor, notification_cursor where matched_up_to < stored_up_to`).length === 0,
  );

  let matches = 0;
  for (const { by, filter } of filters) {
    const { body } = await app.rest('GET', '/v1/events?per_page=100', { token: by.token });
    const { data, errors } = await app.graphql(LIST, { token: by.token, variables: { filter } });
    expect(errors).toBeUndefined();
    const found = data.jobs.nodes.map(({ id }: Json) => id as string).toSorted();
    expect([filter, body.data.map((event: Json) => event.job_id as string).toSorted()]).toEqual([filter, found]);
    matches += found.length;
  }
  expect(matches).toBeGreaterThan(SEARCHES);
  expect(matches).toBeLessThan(SEARCHES * JOBS);
});
