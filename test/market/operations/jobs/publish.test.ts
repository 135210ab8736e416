/** The checks that the database itself makes when it publishes have the same results as the rules. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isBlank, PUBLISH_COST, REQUIRED_TO_PUBLISH, URGENCIES } from '../../../../src/market/rules/jobs/publishing.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, giveTokens, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  await giveTokens(app, people.admin, people.owner, 1_000);
});
afterAll(() => app.close());

const publish = (id: string) => app.rest('POST', `/v1/jobs/${id}/publish`, { token: people.owner.token });

/** Every character that some standard counts as a space, and some that none does. */
const SPACES = [
  ...'\t\n\v\f\r \u0085\u00a0\u1680\u180e\u2000\u2001\u2009\u200a\u200b\u200d',
  ...'\u2028\u2029\u202f\u205f\u2060\u3000\ufeff',
  'x',
  '0',
  '_',
  '\u00ad',
  '\u{1f4a7}',
];

describe('a draft', () => {
  it.each(SPACES.map((sign) => [sign.codePointAt(0)?.toString(16), sign] as const))(
    'with a field that has only U+%s is published only if that counts as text',
    async (_code, sign) => {
      const { id } = await givenJob(app, 'draft', people);
      await app.sql`update jobs set city = ${`${sign} ${sign}`} where id = ${id}`;
      const { status, body } = await publish(id);
      if (isBlank(sign))
        expect(body.details).toMatchObject({ code: 'MISSING_FIELDS', fields: { city: expect.any(String) } });
      else expect([status, body.job?.status]).toEqual([200, 'open']);
    },
  );

  it.each(REQUIRED_TO_PUBLISH)("without its %s isn't published", async (field) => {
    const { id } = await givenJob(app, 'draft', people);
    const column = app.sql(field === 'addressLine1' ? 'address_line1' : field);
    if (field === 'title' || field === 'description') await app.sql`update jobs set ${column} = ' ' where id = ${id}`;
    else await app.sql`update jobs set ${column} = null where id = ${id}`;
    const { body } = await publish(id);
    expect(Object.keys(body.details.fields)).toEqual([field === 'addressLine1' ? 'address_line1' : field]);
    expect(await app.sql`select status, event_count from jobs where id = ${id}`).toEqual([
      { status: 'draft', event_count: 1 },
    ]);
  });

  it.each(URGENCIES)('that is %s costs what the table says', async (urgency) => {
    const { id } = await givenJob(app, 'draft', people);
    await app.sql`update jobs set urgency = ${urgency} where id = ${id}`;
    const { body } = await publish(id);
    expect(body.tokens_charged).toBe(PUBLISH_COST[urgency]);
    expect(await app.sql`select amount from token_transfers where job_id = ${id}`).toEqual([
      { amount: PUBLISH_COST[urgency] },
    ]);
    expect(await app.sql`select data from events where job_id = ${id} and type = 'job.published'`).toEqual([
      { data: { tokensCharged: PUBLISH_COST[urgency] } },
    ]);
  });
});

describe('the values that later edits are compared with', () => {
  it('include the budget at publication, and what was paid', async () => {
    const { id } = await givenJob(app, 'draft', people);
    await app.sql`update jobs set budget_min = 100, budget_max = 250.5, urgency = 'priority' where id = ${id}`;
    expect((await publish(id)).status).toBe(200);
    const kept = await app.sql`select highest_budget_min::float8 as min, highest_budget_max::float8 as max,
        most_tokens_paid as paid from jobs where id = ${id}`;
    expect(kept).toEqual([{ min: 100, max: 250.5, paid: PUBLISH_COST.priority }]);
  });

  it('include the completion date on the day of the check-in', async () => {
    const { id } = await givenJob(app, 'awarded', people);
    await app.sql`update jobs set desired_completion_date = '2031-05-06' where id = ${id}`;
    expect((await app.rest('POST', `/v1/jobs/${id}/checkin`, { token: people.awardee.token })).status).toBe(200);
    expect(await app.sql`select completion_date_at_check_in::text as base from jobs where id = ${id}`).toEqual([
      { base: '2031-05-06' },
    ]);
  });
});
