import { afterAll, beforeAll, expect, it } from 'vitest';
import { contractor, homeowner, type Person } from '../../../story/cast.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';

let app: TestApp;
let carl: Person;

const AUSTIN = { city: 'Austin', state: 'TX' };

beforeAll(async () => {
  app = await openTestApp();
  carl = await contractor(app, 'Carl');
});
afterAll(() => app.close());

async function openJob(place: object): Promise<string> {
  const hanna = await homeowner(app, 'Hanna');
  const body = {
    title: 'A roof',
    description: 'It leaks.',
    category: 'roofing',
    urgency: 'standard',
    address_line1: '1 Elm St',
    ...place,
  };
  const { body: job } = await app.rest('POST', '/v1/jobs', { token: hanna.token, body });
  await app.rest('POST', `/v1/jobs/${job.id}/publish`, { token: hanna.token });
  return job.id;
}

async function near(zipCode: string, withinMiles: number): Promise<string[]> {
  const query = 'query ($near: JobFilterNearInput) { jobs(filter: { near: $near }, first: 100) { nodes { id } } }';
  const { data, errors } = await app.graphql(query, {
    token: carl.token,
    variables: { near: { zipCode, withinMiles } },
  });
  expect(errors).toBeUndefined();
  return data.jobs.nodes.map(({ id }: { id: string }) => id);
}

it('Carl finds the jobs in towns near him, wherever in town they are, and none that are far away', async () => {
  const inTown = await openJob({ ...AUSTIN, zip_code: '78701' });
  const sameTownOtherCode = await openJob({ ...AUSTIN, zip_code: '78759' });
  const withoutCode = await openJob(AUSTIN);
  const farAway = await openJob({ city: 'Chicago', state: 'IL', zip_code: '60601' });
  const found = await near('78704', 30);
  expect(found.toSorted()).toEqual([inTown, sameTownOtherCode, withoutCode].toSorted());
  expect(await near('60601', 30)).toEqual([farAway]);
});

it('the distance reveals the town but not the address: every job in a town is equally far', async () => {
  await Promise.all([openJob({ ...AUSTIN, zip_code: '78701' }), openJob({ ...AUSTIN, zip_code: '78759' })]);
  const towns =
    await app.sql`select distinct town::text from job_search s join jobs j on j.id = s.job_id where j.city = 'Austin'`;
  expect(towns.length).toBe(1);
});

it('nearness is found with its index, not by checking every job', async () => {
  await app.sql`insert into jobs (id, homeowner_id, title, description, status, category, urgency, address_line1,
    city, state)
    select 'job_' || lpad(n::text, 27, '0'), (select id from homeowners limit 1), 'A job', 'Far away', 'open', 'x',
      'standard', '1', 'Nowhere', 'XX' from generate_series(1, 20000) n`;
  await app.sql`update job_search set town = point(-100 - random() * 20, 40 + random() * 8)
    where job_id like 'job_0000%'`;
  await app.sql`analyze jobs, open_job_search`;
  app.statements();
  await near('78704', 10);
  expect(app.statements().join('\n')).toContain('from open_job_search s where s.town <@');
  const plan = await app.sql`
    explain select s.job_id from open_job_search s where s.town <@ '(-97.5,30.5),(-98,30)'::box`;
  expect(plan.map((row) => Object.values(row)[0]).join('\n')).toContain('open_job_search_town');
});

it('an unknown ZIP code is refused, and so is an unreasonable distance', async () => {
  for (const [variables, field] of [
    [{ zipCode: '00000', withinMiles: 10 }, 'near.zipCode'],
    [{ zipCode: '78701', withinMiles: 501 }, 'near.withinMiles'],
  ] as const) {
    const { errors } = await app.graphql(
      'query ($near: JobFilterNearInput) { jobs(filter: { near: $near }) { totalCount } }',
      { token: carl.token, variables: { near: variables } },
    );
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'VALIDATION_FAILED',
      fields: { [field]: expect.any(String) },
    });
  }
});
