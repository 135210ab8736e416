import { afterAll, beforeAll, it } from 'vitest';
import { openTestApp, type TestApp } from '../setup/app.js';
import { expectStories } from './generated.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

it('a client generated from the OpenAPI document completes both stories of a job: openapi-fetch', () =>
  expectStories(app, {
    folder: import.meta.dirname,
    name: 'openapi-fetch',
    commands: [['openapi-typescript', './openapi.json', '-o', 'stories/schema.ts']],
  }));
