/** One list entry fails immediately while an earlier one still waits. An unhandled failure would end the process. */
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { gather, givenJob, type People } from '../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  await givenJob(app, 'draft', people);
  // The list starts with this job. It has an awarded bid, whose job is read later. The draft has no bid.
  await givenJob(app, 'awarded', people);
});
afterAll(() => app.close());

const REFUSED_EVERYWHERE = '{ jobs { nodes { awardedBid { job { id } } bids(first: 0) { totalCount } } } }';

test('a page whose entries are all refused, one of them later, leaves no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  for (let time = 0; time < 4; time += 1) {
    const { data, errors } = await app.graphql(REFUSED_EVERYWHERE, { token: people.owner.token });
    expect([data, errors?.map(({ extensions }) => extensions.code)]).toEqual([{ jobs: null }, ['VALIDATION_FAILED']]);
  }
  // A later response shows that all unfinished reads are done.
  await app.graphql('{ viewer { user { id } } }', { token: people.owner.token });
  await setImmediate();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
