/**
 * One entry of a list fails immediately while an earlier one is still waiting. No failure may be left unhandled,
 * because that would end the process.
 */
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
  // The newest comes first: it has an awarded bid, whose job is read later. The draft has none.
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
  // Once another response has arrived, everything that the last one left unfinished has been read.
  await app.graphql('{ viewer { user { id } } }', { token: people.owner.token });
  await setImmediate();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
