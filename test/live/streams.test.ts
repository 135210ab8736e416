/** Whoever has a stream open is told what happens, as the timeline would show it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../app.js';
import { callRest } from '../calls.js';
import { gather, givenJob, type People } from '../journey.js';
import { takeUntil, viewerOf } from './viewers.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

it('tells a homeowner what happens to their jobs, from now on, each event once and in order', async () => {
  const { live, db } = app.services;
  const stream = live.open(viewerOf(people.owner, 'homeowner'), {}, db);
  const job = await givenJob(app, 'open', people);
  await callRest(app, 'cancel', { by: people.owner, job: job.id, body: {} });
  const told = await takeUntil(stream, ({ type }) => type === 'job.cancelled');
  const ofJob = told.filter(({ jobId }) => jobId === job.id);
  expect(ofJob.map(({ sequence }) => sequence)).toEqual(ofJob.map((_, at) => at + 1));
  const positions = told.map(({ position }) => BigInt(position ?? -1));
  expect(positions).toEqual([...new Set(positions)].toSorted((one, other) => Number(one - other)));
  stream.close();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});
