/** The REST description is valid OpenAPI, complete, consistent with its examples, and tied to the code. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { OPERATIONS } from '../../../src/market/operations/index.js';
import { withNamedEnums } from '../../../src/platform/openapi/json-schema.js';
import { openapi } from '../../../src/rest/openapi/openapi.js';
import { documentedPath } from '../../../src/platform/openapi/requests.js';
import { ROUTES } from '../../../src/rest/routes.js';
import { fromWire } from '../../../src/platform/openapi/wire.js';
import { REST_ERROR_CODES } from '../../../src/market/rules/errors.js';
import { JOB } from '../../../src/market/rules/entities/job.js';
import { entity, type RowOf } from '../../../src/platform/fields/entity.js';
import type { BidId } from '../../../src/market/rules/ids.js';
import { JOB_STATES } from '../../../src/market/rules/states.js';
import { nullableText, requiredText } from '../../../src/platform/fields/values.js';
import { idOf } from '../../../src/market/rules/id-fields.js';
import { document, FORMATS, resolve, validatorAt } from '../../story/documented.js';
import { openTestApp, type Json, type TestApp } from '../../setup/app.js';

const printed: Json = document();

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly operation: Json;
}

const operations: Operation[] = Object.entries<Json>(printed.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('The document', () => {
  it('is a valid OpenAPI 3.1 document by the OpenAPI Initiative’s own rules', () => {
    const published = readFileSync(new URL('openapi-3.1.schema.json', import.meta.url), 'utf8');
    // Ajv can't handle the open schema dialect in these rules, so schemas are checked separately below.
    const rules = JSON.parse(
      published
        .replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"')
        .replaceAll('"$dynamicAnchor": "meta",', ''),
    ) as object;
    const validate = new Ajv2020({ allErrors: true, strict: false, formats: FORMATS }).compile(rules);
    validate(printed);
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ ...printed, paths: { '/v1/jobs': { fetch: {} } } })).toBe(false);
  });

  it('has only valid JSON Schema 2020-12 schemas, without misspelled keywords', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, formats: FORMATS });
    ajv.addVocabulary(['components']);
    for (const [at, schema] of schemasIn(printed)) {
      expect(() => ajv.compile({ ...schema, components: printed.components }), at).not.toThrow();
    }
  });

  it('has the version from package.json', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    expect(printed.info.version).toBe(version);
    expect(openapi().info.version).toBe(version);
  });

  it('has a target for every $ref, and no unused components', () => {
    const refs = new Set([...JSON.stringify(printed).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => String(ref)));
    expect([...refs].filter((ref) => resolve(ref) === undefined)).toEqual([]);
    const parts = Object.entries<Json>(printed.components).filter(([kind]) => kind !== 'securitySchemes');
    const unused = parts
      .flatMap(([kind, named]) => Object.keys(named).map((name) => `#/components/${kind}/${name}`))
      .filter((ref) => !refs.has(ref));
    expect(unused).toEqual([]);
  });

  it('has no nullable parameters, because a query can’t contain null', () => {
    const parameters = operations.flatMap(({ operation }) => (operation.parameters ?? []) as Json[]);
    const nullable = parameters.filter(({ schema }) => JSON.stringify(schema ?? {}).includes('"null"'));
    expect(nullable.map(({ name }) => name)).toEqual([]);
  });

  it('has exactly one entry for each route, named after its operation', () => {
    const entries = operations.map(
      ({ path, method, operation }) => `${method.toUpperCase()} ${path} ${operation.operationId}`,
    );
    expect(entries.toSorted()).toEqual(
      ROUTES.map((route) => `${route.method} ${documentedPath(route)} ${route.operation.name}`).toSorted(),
    );
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(ROUTES.length);
  });

  it('declares each parameter of a path, and no path twice', () => {
    const shapes = Object.keys(printed.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'));
    expect(new Set(shapes).size).toBe(shapes.length);
    for (const { path, operation } of operations) {
      const named = (operation.parameters ?? []).filter((one: Json) => one.in === 'path').map((one: Json) => one.name);
      expect(named, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  it('requires a token except for public data, and where tokens are issued or not needed', () => {
    const open = operations
      .filter(({ operation }) => operation.security?.length === 0)
      .map(({ operation }) => operation.operationId);
    expect(open.toSorted()).toEqual([
      'catalog',
      'lifecycle',
      'logIn',
      'refreshSession',
      'requestPasswordReset',
      'resetPassword',
      'signUpContractor',
      'signUpHomeowner',
      'undoEmailChange',
      'verifyEmail',
    ]);
    for (const { operation } of operations)
      expect(Object.keys(operation.responses).includes('401') || open.includes(operation.operationId)).toBe(true);
  });

  it('describes every field, parameter, and operation', () => {
    const properties = [...schemasIn(printed)].flatMap(([at, schema]) => propertiesIn(at, schema));
    const parameters = operations.flatMap(({ path, operation }) =>
      (operation.parameters ?? [])
        .filter((one: Json) => !one.$ref)
        .map((one: Json) => [`${path} ${one.name}`, one] as const),
    );
    const all = [...properties, ...parameters, ...operations.map(({ path, operation }) => [path, operation] as const)];
    const silent = all.filter(
      ([, { description, $ref, const: only, enum: values }]) =>
        !$ref && only === undefined && !(values && !description) && !/^[^a-z].*[.)]$/s.test(description ?? ''),
    );
    expect(silent.map(([at]) => at)).toEqual([]);
    expect(
      operations.filter(({ operation }) => operation.tags?.length !== 1 || !operation.summary).map(({ path }) => path),
    ).toEqual([]);
  });

  it('has a short, unique summary for each operation, and a description that starts with its sentence', () => {
    const summaries = operations.map(({ operation }) => operation.summary as string);
    expect(summaries.filter((summary) => !/^[A-Z][^.]{3,39}$/.test(summary))).toEqual([]);
    expect(new Set(summaries).size).toBe(summaries.length);
    for (const { operation } of operations) {
      const { description } = Object.values(OPERATIONS).find((one) => one.name === operation.operationId) as Json;
      expect(operation.description.startsWith(`${description}\n\nAvailable to `), operation.operationId).toBe(true);
    }
  });

  it('begins with jobs, and lists operations in the order of its tags', () => {
    const tags = printed.tags.map(({ name }: Json) => name);
    expect(tags[0]).toBe('Jobs');
    expect([...new Set(operations.map(({ operation }) => operation.tags[0]))]).toEqual(tags);
  });

  it('requires a body only if the operation doesn’t accept an empty one', () => {
    for (const { operation } of operations.filter((one) => one.operation.requestBody)) {
      const { schema } = operation.requestBody.content['application/json'];
      expect(operation.requestBody.required, operation.operationId).toBe(!validatorAt(schema.$ref)({}));
    }
  });

  it('has a type with each constant and each enum, because code generators need it', () => {
    const untyped = partsOf(printed).filter(([, { const: only, enum: values, type }]) => (only ?? values) && !type);
    expect(untyped.map(([at]) => at)).toEqual([]);
  });

  it('has no schema with the name of a JavaScript global, which generated code would shadow', () => {
    expect(Object.keys(printed.components.schemas).filter((name) => name in globalThis)).toEqual([]);
  });

  it('has a name for every list of codes that an operation can return', () => {
    const { AwardJobErrorCode, InputErrorCode } = printed.components.schemas;
    expect(InputErrorCode).toEqual({ type: 'string', enum: ['VALIDATION_FAILED', 'MALFORMED_REQUEST'] });
    expect(AwardJobErrorCode.enum).toEqual([...InputErrorCode.enum, 'INVALID_TRANSITION', 'UNKNOWN_BID']);
    const codes = partsOf({ ...printed.paths, ...printed.components.responses }).flatMap(([, { properties }]) =>
      properties?.code ? [properties.code] : [],
    );
    expect(codes.length).toBeGreaterThan(50);
    expect(codes.filter(({ $ref, const: only }) => $ref === undefined && only === undefined)).toEqual([]);
  });

  it('describes the requests to webhook endpoints, with an example of each', () => {
    const { jobEvent, testEvent } = printed.webhooks;
    for (const { post } of [jobEvent, testEvent]) {
      expect(post.parameters.map(({ name, required }: Json) => [name, required])).toEqual([
        ['webhook-id', true],
        ['webhook-timestamp', true],
        ['webhook-signature', true],
      ]);
      expect(Object.keys(post.responses).toSorted()).toEqual(['2XX', '410', 'default']);
      const { schema, example } = post.requestBody.content['application/json'];
      const validate = validatorAt(schema.$ref);
      validate(example);
      expect(validate.errors ?? []).toEqual([]);
    }
    expect(jobEvent.post.requestBody.content['application/json'].example.data.type).toBe('job.published');
  });

  it('has the full URL of a server with the default settings', () => {
    expect(printed.servers).toMatchObject([{ url: 'http://127.0.0.1:4000' }]);
  });

  it('says where `Idempotency-Key` and `Dry-Run` have no effect, and doesn’t list these headers there', () => {
    const forReal = ROUTES.filter(({ operation }) => operation.ignoresKeyAndDryRun || operation.answersSecret).map(
      ({ operation }) => operation.name,
    );
    const saying = operations.filter(({ operation }) => /`Idempotency-Key`.*`Dry-Run/.test(operation.description));
    expect(saying.map(({ operation }) => operation.operationId).toSorted()).toEqual(forReal.toSorted());
    const refusing = saying.filter(({ operation }) => /`Dry-Run: true` is rejected/.test(operation.description));
    expect(refusing.map(({ operation }) => operation.operationId).toSorted()).toEqual([
      'createApiKey',
      'createWebhookEndpoint',
      'rotateWebhookSecret',
    ]);
    for (const { operation } of saying)
      expect(JSON.stringify(operation.parameters ?? [])).not.toMatch(/IdempotencyKey|DryRun/);
  });

  it('has a minimum and a maximum for every integer', () => {
    const numbers = JSON.stringify(printed).match(/\{"type":"integer"[^{}]*\}/g) ?? [];
    expect(numbers.length).toBeGreaterThan(10);
    for (const number of numbers.filter((one) => JSON.parse(one).const === undefined))
      expect(JSON.parse(number)).toMatchObject({ minimum: expect.any(Number), maximum: expect.any(Number) });
  });

  it('lists every error code that REST returns', () => {
    expect(printed.components.schemas.ErrorDetails.properties.code.$ref).toBe('#/components/schemas/ErrorCode');
    expect(printed.components.schemas.ErrorCode.enum).toEqual(REST_ERROR_CODES);
  });

  it('has a name for every request body, and for every enum that has a name in GraphQL', () => {
    const bodies = operations.flatMap(({ operation }) =>
      operation.requestBody ? [[operation.operationId, operation.requestBody.content['application/json'].schema]] : [],
    );
    expect(bodies.length).toBeGreaterThan(10);
    for (const [id, schema] of bodies)
      expect(schema).toEqual({
        $ref: `#/components/schemas/${id.replace(/^./, (first: string) => first.toUpperCase())}Request`,
      });
    const { schemas } = printed.components;
    expect(schemas.JobStatus).toEqual({ type: 'string', enum: JOB_STATES });
    expect(schemas.Job.properties.status).toEqual({
      $ref: '#/components/schemas/JobStatus',
      description: JOB.fields.status.description,
    });
    expect(schemas.Job.properties.urgency.anyOf).toEqual([{ $ref: '#/components/schemas/Urgency' }, { type: 'null' }]);
    expect(JSON.stringify(printed)).not.toContain('enumName');
  });

  it('has different names for different lists', () => {
    const listOf = (...values: string[]) => ({ type: 'string', enum: values, enumName: 'Colour' });
    expect(withNamedEnums([listOf('red'), listOf('red')]).enums).toEqual({ Colour: { type: 'string', enum: ['red'] } });
    expect(() => withNamedEnums([listOf('red'), listOf('blue')])).toThrow('Two lists are called Colour.');
  });
});

describe('The examples', () => {
  const withBody = operations.filter(({ operation }) => operation.requestBody);

  it.each(withBody.map(({ operation }) => operation.operationId as string))(
    'of the request %s is valid input for its operation',
    (operationId) => {
      const { path, method, operation } = operations.find(
        (one) => one.operation.operationId === operationId,
      ) as Operation;
      const { example } = operation.requestBody.content['application/json'];
      const validate = validatorAt(
        `#/paths/${path.replaceAll('/', '~1')}/${method}/requestBody/content/application~1json/schema`,
      );
      validate(example);
      expect(validate.errors ?? []).toEqual([]);
      const { input } = Object.values(OPERATIONS).find((one) => one.name === operationId) as Json;
      const inPath = Object.fromEntries(
        (ROUTES.find((route) => route.operation.name === operationId)?.path.match(/\{\w+\}/g) ?? []).map((name) => [
          name.slice(1, -1),
          'x',
        ]),
      );
      expect(input.safeParse({ ...(fromWire(example) as object), ...inPath }).error).toBeUndefined();
    },
  );

  it('of responses match their schemas', () => {
    for (const { path, method, operation } of operations) {
      // A 304 has no body.
      for (const [status, response] of Object.entries<Json>(operation.responses).filter(([one]) => one !== '304')) {
        const at: string = response.$ref ?? `#/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}`;
        const { example, examples } = resolve(at).content['application/json'];
        const shown = examples ? Object.values<Json>(examples).map(({ $ref }) => resolve($ref).value) : [example];
        expect(shown.length, at).toBeGreaterThan(0);
        const validate = validatorAt(`${at}/content/application~1json/schema`);
        for (const one of shown) {
          validate(one);
          expect(validate.errors ?? [], `${at} ${JSON.stringify(one)}`).toEqual([]);
        }
      }
    }
  });

  it('of parameters match their schemas', () => {
    for (const { operation } of operations) {
      for (const { schema, example } of (operation.parameters ?? []).filter((one: Json) => one.example))
        expect(example).toMatch(new RegExp(schema.pattern));
    }
  });
});

describe('A response', () => {
  it('with an extra or a missing field doesn’t match its schema', () => {
    const validate = validatorAt('#/components/schemas/Job');
    const { example } = printed.paths['/v1/jobs/{id}'].get.responses['200'].content['application/json'];
    expect(validate(example)).toBe(true);
    expect(validate({ ...example, bids: 3 })).toBe(false);
    for (const name of Object.keys(example)) expect(validate({ ...example, [name]: undefined }), name).toBe(false);
    expect(validate({ ...example, title: null })).toBe(false);
    expect(validate({ ...example, created_at: '2026-03-02T09:30:00Z' })).toBe(false);
    expect(validate({ ...example, id: 'bid_2b9Xv0cJ5q7hT3nKz8LmRw4YdPe' })).toBe(false);
  });

  it('has a schema that agrees with the table’s types: otherwise, the code doesn’t compile', () => {
    interface Row {
      id: BidId;
      message: string | null;
      amount: number;
    }
    const id = { type: idOf('bid'), description: 'The bid.' };
    const message = { type: nullableText(100), description: 'A message.' };
    const fits = entity('Fits', 'As it is.', { id, message });
    const tooSure = entity('TooSure', 'Never null.', { id, message: { ...message, type: requiredText(100) } });
    const unsure = entity('Unsure', 'Perhaps null.', { id: { ...id, type: idOf('bid').nullable() }, message });
    const other = entity('Other', 'Of another kind.', { id: { ...id, type: idOf('job') }, message });
    const more = entity('More', 'With a field too many.', { id, message, note: message });
    expectTypeOf<RowOf<typeof fits, Row>>().toEqualTypeOf<Row>();
    // An identifier that is never null can't be described as nullable.
    expectTypeOf<RowOf<typeof unsure, Row>>().toBeNever();
    // @ts-expect-error: a message may be null.
    expectTypeOf<RowOf<typeof tooSure, Row>>();
    // @ts-expect-error: it is a bid's.
    expectTypeOf<RowOf<typeof other, Row>>();
    // @ts-expect-error: the row doesn't have this column.
    expectTypeOf<RowOf<typeof more, Row>>();
    expect(Object.keys(fits.schema.shape)).toEqual(['id', 'message']);
  });
});

describe('The server', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp();
  });
  afterAll(() => app.close());

  it.each(['/v1/openapi.json', '/openapi.json'])(
    'serves the document to everyone at %s, and returns 304 if it hasn’t changed',
    async (path) => {
      const { status, headers, body } = await app.rest('GET', path);
      expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
        200,
        'application/json; charset=utf-8',
        'public, no-cache',
      ]);
      expect(body).toEqual(JSON.parse(JSON.stringify(openapi(app.url))));
      const again = await app.rest('GET', path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
      expect([again.status, again.body]).toEqual([304, undefined]);
    },
  );

  it('has its public URL in the document if one is set', async () => {
    const known = await openTestApp({ PUBLIC_URL: 'https://api.example' }, { sameDatabaseAs: app });
    const { body } = await known.rest('GET', '/v1/openapi.json');
    await known.close();
    expect(body.servers).toMatchObject([{ url: 'https://api.example' }]);
  });
});

/** Every schema on its own: the named ones, and those of bodies and parameters. */
function* schemasIn(value: Json, at = ''): Generator<readonly [at: string, schema: Json]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries<Json>(value)) {
    const place = `${at}/${key}`;
    if (key === 'schema') yield [place, inner];
    else if (at === '/components/schemas') yield [place, inner];
    else if (key !== 'example' && key !== 'examples') yield* schemasIn(inner, place);
  }
}

/** Every part of the document except examples, with its location. */
function partsOf(value: Json, at = ''): [at: string, part: Json][] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries<Json>(value).filter(([key]) => key !== 'example' && key !== 'examples');
  return [[at, value], ...inner.flatMap(([key, part]) => partsOf(part, `${at}/${key}`))];
}

function propertiesIn(at: string, schema: Json): [at: string, property: Json][] {
  const own = Object.entries<Json>(schema?.properties ?? {});
  return [
    ...own.map(([name, inner]): [string, Json] => [`${at}/${name}`, inner]),
    ...own.flatMap(([name, inner]) => propertiesIn(`${at}/${name}`, inner)),
  ];
}
