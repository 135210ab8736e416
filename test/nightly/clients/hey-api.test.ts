import { afterAll, beforeAll, it } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { expectStories } from '../../clients/generated.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

it('a client generated from the OpenAPI document completes both stories of a job: hey-api', () =>
  expectStories(app, {
    folder: import.meta.dirname,
    name: 'hey-api',
    commands: [['openapi-ts', '-i', './openapi.json', '-o', 'stories/hey', '-c', '@hey-api/client-fetch']],
  }));
