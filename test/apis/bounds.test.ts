/**
 * Everything that a caller can lengthen has a limit: errors, repeated names, headers, responses, and the work behind
 * each of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/platform/caller-limits.js';
import { homeowner, type Person } from '../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import {
  FAILING_EVERYWHERE,
  named,
  times,
  UPDATE,
  WRONG_VARIABLES,
} from '../platform/graphql/limits/heavy-documents.js';

const MEGABYTE = 1_000_000;
const ANSWER_BYTES_MAX = 20 * MEGABYTE;

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

function expectBounded(errors: Json[] | undefined): void {
  expect(errors?.length).toBeLessThanOrEqual(ERRORS.perAnswerMax);
  for (const { message, locations = [] } of errors ?? []) {
    expect(message.length).toBeLessThanOrEqual(ERRORS.textCharactersMax);
    expect(message).toMatch(/[.?]$/);
    expect(locations.length).toBeLessThanOrEqual(ERRORS.locationsMax);
  }
}

describe('invalid variables', () => {
  it.each(WRONG_VARIABLES)(
    'fail with at most fifty errors, whether or not the server knows the document: %s',
    async (_what, input, count) => {
      await app.graphql(UPDATE, { token: hanna.token, variables: { input: {} } });
      await app.graphql(UPDATE, { token: hanna.token, variables: { input: {} } });
      for (const query of [UPDATE, `${UPDATE} # ${count} ${_what}`]) {
        app.statements();
        const answer = await app.graphql(query, { token: hanna.token, variables: { input } });
        expect([answer.status, answer.errors?.length, answer.data, app.statements()]).toEqual([
          400,
          count,
          undefined,
          [],
        ]);
        for (const { extensions } of answer.errors ?? [])
          expect(extensions).toMatchObject({ code: 'VALIDATION_FAILED', status: 400 });
        expectBounded(answer.errors);
      }
    },
  );

  it('return the number of further errors', async () => {
    const { errors } = await app.graphql(UPDATE, {
      token: hanna.token,
      variables: { input: named(51, (i) => `name${i}`) },
    });
    expect(errors?.[49]?.message).toBe('There are more errors in the variables. These are the first 49.');
  });
});

describe('invalid documents', () => {
  it.each([
    ['nine hundred unknown fields', `{ ${times(900, (i) => `x${i}`)} }`],
    ['two hundred unknown arguments', `{ viewer(${times(200, (i) => `x${i}: 1`)}) { user { id } } }`],
    ['two hundred unused variables', `query (${times(200, (i) => `$v${i}: Int`)}) { __typename }`],
    ['a text of 100,000 characters in place of a number', `{ jobs(first: "${'x'.repeat(100_000)}") { totalCount } }`],
  ])('by %s get at most fifty errors', async (_what, query) => {
    const answer = await app.graphql(query, { token: hanna.token });
    expect(answer.status).toBe(400);
    expectBounded(answer.errors);
  });
});

describe('a REST body', () => {
  it.each(['/v1/auth/login', '/v1/jobs'])(
    'with 1,000 unknown fields for %s fails with fifty of them and the number of the others',
    async (path) => {
      const { status, body } = await app.rest('POST', path, {
        token: hanna.token,
        body: named(1_000, (i) => `name${i}`),
      });
      expect([status, Object.keys(body.details.fields).length]).toEqual([400, ERRORS.perAnswerMax]);
      expect(body.details.fields_left_out).toBeGreaterThanOrEqual(950);
      expect(JSON.stringify(body).length).toBeLessThan(10_000);
    },
  );

  it('with more than 1,000 keys is malformed, and so is a GraphQL variable', async () => {
    const many = named(1_001, (i) => `name${i}`);
    const message = 'An object in the body has more than 1000 keys.';
    const { status, body } = await app.rest('POST', '/v1/jobs', { token: hanna.token, body: many });
    expect([status, body.details.code, body.error]).toEqual([400, 'MALFORMED_REQUEST', message]);
    const query = 'mutation ($input: CreateJobInput!) { createJob(input: $input) { job { id } } }';
    const answer = await app.graphql(query, { token: hanna.token, variables: { input: many } });
    expect([answer.status, answer.errors?.[0]?.message]).toEqual([400, message]);
  });

  it('with a name of 60,000 characters fails with the beginning of the name', async () => {
    const { status, body } = await app.rest('POST', '/v1/jobs', {
      token: hanna.token,
      body: { ['long_name'.repeat(6_500)]: 1 },
    });
    expect(status).toBe(400);
    expect(Object.keys(body.details.fields)).toContainEqual(expect.stringMatching(/^long_name.*\.\.\.$/));
    expect(JSON.stringify(body).length).toBeLessThan(2_000);
  });

  it('with a few unknown fields fails with all of them', async () => {
    const { body } = await app.rest('POST', '/v1/jobs', { token: hanna.token, body: named(40, (i) => `name${i}`) });
    expect([Object.keys(body.details.fields).length, body.details.fields_left_out]).toEqual([42, undefined]);
  });
});

describe('with a hundred of the largest drafts', () => {
  /** Six bytes in JSON. */
  const TEXT = '\u0001'.repeat(10_000);

  beforeAll(async () => {
    const create = 'mutation ($input: CreateJobInput!) { createJob(input: $input) { job { id } } }';
    /** Three bytes in JSON. A single line can't contain control characters. */
    const line = '€'.repeat(200);
    const ADDRESS = {
      addressLine1: line,
      addressLine2: line,
      city: line,
      state: line,
      zipCode: line,
      country: line,
      category: '€'.repeat(64),
    };
    for (let i = 0; i < 100; i += 1) {
      const { data } = await app.graphql(create, {
        token: hanna.token,
        variables: { input: { title: line, description: TEXT, ...ADDRESS } },
      });
      await app.graphql(
        'mutation ($id: ID!, $input: UpdateJobInput) { updateJob(id: $id, input: $input) { job { id } } }',
        { token: hanna.token, variables: { id: data.createJob.job.id, input: { requirements: TEXT } } },
      );
    }
  });

  async function bytesOf(path: string, init: RequestInit = {}): Promise<[status: number, bytes: number]> {
    const response = await fetch(app.url + path, {
      ...init,
      headers: { authorization: `Bearer ${hanna.token}`, 'content-type': 'application/json' },
    });
    return [response.status, (await response.arrayBuffer()).byteLength];
  }

  const ALL_TEXTS = 'id title description requirements category addressLine1 addressLine2 city state zipCode country';
  const LARGEST: readonly (readonly [what: string, query: string])[] = [
    [
      'a full page, and half a page more',
      `{ jobs(first: 100) { nodes { ${ALL_TEXTS} } } again: jobs(first: 52) { nodes { ${ALL_TEXTS} } } }`,
    ],
    [
      'as many descriptions as the cost allows',
      `{ jobs(first: 82) { nodes { ${times(4, (i) => `d${i}: description`)} } } }`,
    ],
    [
      'texts in edges',
      `{ jobs(first: 100) { edges { cursor node { ${ALL_TEXTS} } } pageInfo { endCursor } totalCount } }`,
    ],
    [
      'sentences with long aliases',
      `{ jobs(first: 100) { nodes { availableActions { ${times(14, (i) => `${'n'.repeat(97)}${i}: message`)} } } } }`,
    ],
    [
      'short values with long aliases',
      `{ jobs(first: 100) { nodes { homeowner { ${times(14, (i) => `${'n'.repeat(97)}${i}: id`)} } } } }`,
    ],
  ];

  it.each(LARGEST)('%s are at most 20 MB in GraphQL, on the first call and later', async (_what, query) => {
    for (let time = 0; time < 2; time += 1) {
      const [status, bytes] = await bytesOf('/graphql', { method: 'POST', body: JSON.stringify({ query }) });
      expect(status).toBe(200);
      expect(bytes).toBeGreaterThan(MEGABYTE / 10);
      expect(bytes).toBeLessThan(ANSWER_BYTES_MAX);
    }
  });

  it('a page in REST is at most 20 MB', async () => {
    const [status, bytes] = await bytesOf('/v1/jobs?per_page=100');
    expect(status).toBe(200);
    expect(bytes).toBeGreaterThan(12 * MEGABYTE);
    expect(bytes).toBeLessThan(ANSWER_BYTES_MAX);
  });

  it('failures in every node of many lists return one page of errors, even deep in a document', async () => {
    const answer = await app.graphql(FAILING_EVERYWHERE, { token: hanna.token });
    expect(answer.errors?.[0]?.extensions.code).toBe('VALIDATION_FAILED');
    expectBounded(answer.errors);
  });

  it('the link to the next page doesn’t repeat padding in the query', async () => {
    const response = await fetch(`${app.url}/v1/jobs?per_page=1&search=${'+'.repeat(10_000)}€`, {
      headers: { authorization: `Bearer ${hanna.token}` },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('link')?.length).toBeLessThan(500);
    expect(response.headers.get('link')).toMatch(/per_page=1&search=%E2%82%AC&page=2&after=/);
  });

  it('filters that are too long for a header aren’t repeated in links', async () => {
    const linkTo = async (length: number) => {
      const categories = ['€'.repeat(64), ...times(19, (i) => `${'🛠'.repeat(length)}${i}`).split(' ')];
      const response = await fetch(`${app.url}/v1/jobs?per_page=1&categories=${categories.join()}`, {
        headers: { authorization: `Bearer ${hanna.token}` },
      });
      expect([response.status, ((await response.json()) as Json).data]).toEqual([200, [expect.anything()]]);
      return response.headers.get('link');
    };
    expect(await linkTo(4)).toContain('rel="first"');
    expect(await linkTo(15)).toMatch(/^<[^>]+>; rel="next"$/);
    expect(await linkTo(62)).toBeNull();
  });
});

describe('REST', () => {
  it('limits the largest page of every list to 20 MB', async () => {
    const { graphOf } = await import('../../src/graphql/graph.js');
    const { schema } = await import('../../src/graphql/schema.js');
    const { isList } = await import('../../src/platform/openapi/route.js');
    const { ROUTES } = await import('../../src/rest/routes.js');
    const rows = [...new Set(ROUTES.filter(isList).map(({ shows }) => shows.name))];
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      // The other parts of a list are short.
      const texts = graphOf(schema).texts[row.replace(/ListItem$/, '')] as Record<string, number>;
      const characters = Object.values(texts).reduce((total, one) => total + one, 0);
      // A hundred entries with six bytes per character, and a thousand bytes for the short fields.
      expect([row, (characters * 6 + 2_000) * 100 <= ANSWER_BYTES_MAX]).toEqual([row, true]);
    }
  });
});
