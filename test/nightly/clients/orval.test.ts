import { afterAll, beforeAll, it } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { expectStories } from '../../clients/generated.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

const make = (client: 'fetch' | 'zod') =>
  ['orval', '--input', './openapi.json', '--client', client, '--output', `stories/orval/${client}.ts`] as const;

it('a client generated from the OpenAPI document completes both stories of a job: orval, with its zod schemas', () =>
  expectStories(app, { folder: import.meta.dirname, name: 'orval', commands: [make('fetch'), make('zod')] }));
