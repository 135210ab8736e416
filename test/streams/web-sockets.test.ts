/** Subscriptions over WebSockets, by the client of graphql-ws. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../app.js';
import { homeowner, type Person } from '../cast.js';
import { connectAs, MY_EVENTS, untilOpen } from './clients.js';

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

async function draft(by: Person): Promise<string> {
  const body = { title: 'Mend the roof', description: 'It leaks.' };
  return (await app.rest('POST', '/v1/jobs', { token: by.token, body })).body.id;
}

describe('myEvents', () => {
  it('hears what happens from now on', async () => {
    const { subscribe, client } = connectAs(app.url, hanna);
    const heard = subscribe(MY_EVENTS);
    await untilOpen(app, 1);
    const job = await draft(hanna);
    await heard.count(1);
    expect(heard.events).toMatchObject([{ type: 'JOB_CREATED', jobId: job }]);
    await client.dispose();
    await untilOpen(app, 0);
  });
});
