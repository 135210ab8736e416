/** How REST reads old names, inherited names, and names that the path already gives. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { homeowner, type Person } from '../story/cast.js';
import { byRest, invalid } from '../apis/refused.js';
import { openTestApp, type TestApp } from '../setup/app.js';

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

const create = (body: unknown) => app.rest('POST', '/v1/jobs', { token: hanna.token, body });
const read = (path: string) => app.rest('GET', path, { token: hanna.token });
const DRAFT = { title: 'Repair the sink', description: 'It drips.' };

it('an old name that contradicts the new one is the one reported, whichever comes first', async () => {
  for (const body of [
    { ...DRAFT, trade: 'roofing', category: 'plumbing' },
    { ...DRAFT, category: 'plumbing', trade: 'roofing' },
  ]) {
    const refused = await create(body);
    expect(byRest(refused)).toEqual(invalid('trade'));
    expect(refused.body.details.fields.trade).toBe('differs from category, but is an alias of it');
  }
  expect((await create({ ...DRAFT, trade: 'plumbing', category: 'plumbing' })).body).toMatchObject({
    category: 'plumbing',
  });
});

it('names that every object inherits are as unknown as any other, in a body and in a query', async () => {
  const born = ['constructor', 'to_string', 'has_own_property', '__proto__', 'value_of'];
  const refused = await create(`{"title":"A","description":"B",${born.map((name) => `"${name}":1`).join(',')}}`);
  expect(byRest(refused)).toEqual(invalid(...born));
  for (const problem of Object.values(refused.body.details.fields))
    expect(problem).toBe('isn’t a field of this operation');
  const refusedQuery = await read(`/v1/jobs?${born.map((name) => `${name}=1`).join('&')}`);
  expect(byRest(refusedQuery)).toEqual(invalid(...born));
});

it('an unknown query parameter is named, with those that the operation accepts', async () => {
  const { fields } = (await read('/v1/jobs?limit=5&per_page=0')).body.details;
  expect(fields.limit).toMatch(
    /^isn’t a query parameter of this operation, which accepts page, per_page, after, .*, near_zip/,
  );
  expect(fields.limit.endsWith('...')).toBe(false);
  expect(fields.per_page).toBe('must be 1 to 100');
  expect((await read('/v1/me?include=tokens')).body.details.fields).toEqual({
    include: 'isn’t a query parameter of this operation, which accepts none',
  });
});

it('a parameter that is given twice is named, unless it is a list', async () => {
  const refused = await read('/v1/jobs?page=1&page=2&urgency=urgent&urgency=urgent&per_page=0');
  expect(refused.body.details.fields).toEqual({
    page: 'can be given only once',
    urgency: 'can be given only once',
    per_page: 'must be 1 to 100',
  });
  for (const query of [
    'status=open&status=draft',
    'statuses=open&statuses=draft,awarded',
    'category=roofing&category=plumbing',
    'categories=roofing&categories=plumbing,tiling',
  ])
    expect((await read(`/v1/jobs?${query}`)).status).toBe(200);
});

it('a job may be sent back whole, with the id of its address and no other', async () => {
  const { body: job } = await create(DRAFT);
  const put = (body: unknown) => app.rest('PUT', `/v1/jobs/${job.id}`, { token: hanna.token, body });
  expect((await put(job)).body).toEqual(job);
  expect(byRest(await put({ ...job, id: 'job_2b9Xv0cJ5q7hT3nKz8LmRw4YdPe' }))).toEqual(invalid('id'));
});

it('a contradicting name and every other bad field are refused together', async () => {
  const refused = await create({
    title: ' ',
    description: 'B',
    trade: 'roofing',
    category: 'plumbing',
    budget_min: -1,
    wat: 1,
  });
  expect(byRest(refused)).toEqual(invalid('title', 'trade', 'budget_min', 'wat'));
});

it.each(['1.0', '01', '-01', '1e0', '0x1', '%2B5', '+5', '1_0', '\u0661'])(
  "a page called %s isn't a whole number, and is refused as such",
  async (value) => {
    const query = `page=${value}&per_page=${value}`;
    const refused = await app.rest('GET', `/v1/jobs?${query}`, { token: hanna.token });
    expect(byRest(refused)).toEqual(invalid('page', 'per_page'));
    expect(refused.body.details.fields.page).toBe('must be a whole number');
  },
);
