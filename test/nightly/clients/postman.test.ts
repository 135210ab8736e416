/** Postman imports the OpenAPI document: a collection with a request for each operation, named after its summary. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openapi } from '../../../src/rest/openapi/openapi.js';
import type { Json } from '../../story/answer.js';
import { packagesOf } from '../../setup/packages.js';

it('imports the whole collection, with a server address, bodies, and tokens', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postman-'));
  try {
    const [source, target] = [join(folder, 'openapi.json'), join(folder, 'collection.json')];
    const document = JSON.parse(JSON.stringify(openapi())) as Json;
    writeFileSync(source, JSON.stringify(document));
    const program = join(await packagesOf(import.meta.dirname), '.bin/openapi2postmanv2');
    execFileSync(program, ['-s', source, '-o', target], { stdio: 'pipe' });
    const collection = JSON.parse(readFileSync(target, 'utf8')) as Json;

    expect(valueOf(collection.variable, 'baseUrl')).toBe('http://127.0.0.1:4000');
    expect(collection.auth.type).toBe('bearer');
    const requests = requestsIn(collection);
    const operations = Object.values<Json>(document.paths).flatMap((methods) => Object.values<Json>(methods));
    expect(requests.map(({ name }) => name).toSorted()).toEqual(operations.map(({ summary }) => summary).toSorted());
    const award = requests.find(({ name }) => name === 'Award a job');
    expect(award?.request).toMatchObject({ method: 'POST', url: { path: ['v1', 'jobs', ':id', 'award'] } });
    // A field without an example gets a placeholder.
    expect(JSON.parse(award?.request.body.raw)).toEqual({
      bid_id: expect.stringMatching(/^bid_/),
      expected_bid_version: '<integer,null>',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const valueOf = (variables: Json[], name: string): unknown => variables.find(({ key }) => key === name)?.value;

function requestsIn({ item = [], ...own }: Json): Json[] {
  return own.request ? [own] : item.flatMap(requestsIn);
}
