/**
 * Responses that weren't slow but wrong: they are untrue, or no client can handle them. Each is requested from the
 * attacked server afterward.
 */
import { expect } from 'vitest';
import { seededId } from '../../../bench/market/market.js';
import { crowdedJob } from '../../../bench/market/uneven-market.js';
import { httpCall, type HttpAnswer, type HttpCall } from './http-call.js';
import type { People } from './people.js';
import { aliased, unknownNames } from './rows/requests.js';
import type { AttackedServer } from './server.js';

export interface Asker {
  readonly server: AttackedServer;
  readonly people: People;
}

interface GraphqlAnswer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { message: string; extensions: { code: string } }[];
  readonly extensions?: { dryRun?: { events: unknown[] } };
}

const ADDRESS = '127.4.0.1';
const ERRORS_MAX = 50;
const ERROR_TEXT_MAX = 500;
const EFFECTS_HEADER_BYTES_MAX = 4 * 1024;
const DRY = { 'Dry-Run': 'true' };
const JOINS = { password: 'a password for this test', firstName: 'Nora', lastName: 'Real' };

const call = ({ server }: Asker, path: string, more: Partial<HttpCall> = {}) =>
  httpCall({ port: server.port, address: ADDRESS, path, ...more });
const ask = (asker: Asker, query: string, variables: object = {}, more: Partial<HttpCall> = {}) =>
  call(asker, '/graphql', { method: 'POST', body: { query, variables }, ...more });
const rootField = (answer: HttpAnswer, name: string) => (read(answer).data ?? {})[name] as Record<string, string>;
const read = ({ text }: HttpAnswer) => JSON.parse(text) as GraphqlAnswer;
const fieldsIn = ({ text }: HttpAnswer) =>
  Object.entries((JSON.parse(text) as { details: { fields: Record<string, string> } }).details.fields);

export const ANSWERS: readonly (readonly [outcome: string, check: (asker: Asker) => Promise<void>])[] = [
  [
    'GraphQL does not claim that a sign-up was a dry run: it happened',
    async (asker) => {
      const email = 'nora.real@example.test';
      const join = 'mutation($input: SignUpHomeownerInput!) { signUpHomeowner(input: $input) { token } }';
      expectNoDryRun(await ask(asker, join, { input: { email, ...JOINS } }, { headers: DRY }));
      expect(
        (await call(asker, '/v1/auth/login', { method: 'POST', body: { email, password: JOINS.password } })).status,
      ).toBe(200);
    },
  ],

  [
    'nor that a login, a refresh, or a logout was one',
    async (asker) => {
      const { email, password } = asker.people.homeowner();
      const login = await ask(
        asker,
        'mutation($input: LogInInput!) { logIn(input: $input) { token refreshToken } }',
        { input: { email, password } },
        { headers: DRY },
      );
      expectNoDryRun(login);
      const { refreshToken } = rootField(login, 'logIn');
      const refreshed = await ask(
        asker,
        'mutation($input: RefreshSessionInput!) { refreshSession(input: $input) { token } }',
        { input: { refreshToken } },
        { headers: DRY },
      );
      expectNoDryRun(refreshed);
      const { token } = rootField(refreshed, 'refreshSession');
      expect((await call(asker, '/v1/me', { token })).status).toBe(200);
      expectNoDryRun(await ask(asker, 'mutation { logOut { __typename } }', {}, { headers: DRY, token }));
      expect((await call(asker, '/v1/me', { token })).status).toBe(401);
    },
  ],

  [
    'Dry-Run-Effects stays within 4 KB however much there is, and says how much there is',
    async (asker) => {
      const { token } = asker.people.ownerOfCrowdedJob;
      const job = seededId('job', crowdedJob(asker.server.market));
      const dry = await call(asker, `/v1/jobs/${job}/cancel`, { method: 'POST', token, headers: DRY });
      expect([dry.status, dry.headers['dry-run']]).toEqual([200, 'true']);
      const effects = String(dry.headers['dry-run-effects']);
      expect(Buffer.byteLength(effects)).toBeLessThanOrEqual(EFFECTS_HEADER_BYTES_MAX);
      expect(effects).toContain('1001'); // A thousand rejected bids, and the cancellation.
      const whole = await ask(
        asker,
        `mutation { cancelJob(id: "${job}") { __typename } }`,
        {},
        { token, headers: DRY },
      );
      expect(read(whole).extensions?.dryRun?.events).toHaveLength(1_001);
    },
  ],

  [
    'one Idempotency-Key means the same through both APIs',
    async (asker) => {
      const { token } = asker.people.homeowner();
      const headers = { 'Idempotency-Key': 'the same key' };
      const whole = {
        title: 'One job',
        description: 'And no other.',
        category: 'plumbing',
        city: 'Austin',
        state: 'TX',
      };
      const create = 'mutation($input: CreateJobInput!) { createJob(input: $input) { __typename } }';
      const input = { ...whole, urgency: 'STANDARD', addressLine1: '1 Oak Lane' };
      const first = await call(asker, '/v1/jobs', {
        method: 'POST',
        token,
        headers,
        body: { ...whole, urgency: 'standard', address_line1: '1 Oak Lane' },
      });
      expect([first.status, first.headers['idempotency-replayed']]).toEqual([201, undefined]);
      expectReplayed(await ask(asker, create, { input }, { token, headers }));
      const other = await ask(asker, create, { input: { ...input, title: 'Another job' } }, { token, headers });
      expect(read(other).errors?.map(({ extensions }) => extensions.code)).toEqual(['IDEMPOTENCY_KEY_REUSED']);

      const { id } = JSON.parse(first.text) as { id: string };
      const publish =
        'mutation($id: ID!, $version: Int) { publishJob(id: $id, expectedVersion: $version) { __typename } }';
      expect((await call(asker, `/v1/jobs/${id}/publish`, { method: 'POST', token, headers })).status).toBe(200);
      expectReplayed(await ask(asker, publish, { id }, { token, headers }));
      expectReplayed(await ask(asker, publish, { id, version: null }, { token, headers }));

      expectReplayed(
        await ask(asker, 'mutation($id: ID!) { publishJob(id: $id) { __typename } }', { id }, { token, headers }),
      );
      const cancel = 'mutation($id: ID!) { cancelJob(id: $id) { __typename } }';
      expect(read(await ask(asker, cancel, { id }, { token, headers })).errors).toBeUndefined();
      const again = await call(asker, `/v1/jobs/${id}/cancel`, { method: 'POST', token, headers });
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
    },
  ],

  [
    'a thousand unknown names in a REST body are named up to fifty and counted, on the login route too',
    async (asker) => {
      const { token } = asker.people.homeowner();
      for (const path of ['/v1/auth/login', '/v1/auth/signup/homeowner', '/v1/auth/refresh', '/v1/jobs']) {
        const answer = await call(asker, path, { method: 'POST', token, body: unknownNames(1_000) });
        expect([path, answer.status]).toEqual([path, 400]);
        expectBounded(
          fieldsIn(answer).map(([, problem]) => problem),
          answer,
        );
      }
    },
  ],

  [
    'and in a GraphQL variable, whether the document is new or well known',
    async (asker) => {
      const create = 'mutation Bounded($input: CreateJobInput!) { createJob(input: $input) { __typename } }';
      const { token } = asker.people.homeowner();
      for (let sight = 0; sight < 5; sight += 1) {
        const answer = await ask(
          asker,
          create,
          { input: { title: 'A', description: 'B', ...unknownNames(990) } },
          { token },
        );
        expectBounded(messagesOf(answer), answer);
        await ask(asker, create, { input: { title: 'A', description: 'B' } }, { token });
      }
    },
  ],

  [
    'nine hundred unknown fields of a document likewise',
    async (asker) => {
      const answer = await ask(asker, `{ ${Array.from({ length: 900 }, (_, at) => `unknown${at}`).join(' ')} }`);
      expect(answer.status).toBe(400);
      expectBounded(messagesOf(answer), answer);
    },
  ],

  [
    'a very long name is cut where an error repeats it',
    async (asker) => {
      const name = 'n'.repeat(50_000);
      const { token } = asker.people.homeowner();
      const rest = await call(asker, '/v1/jobs', { method: 'POST', token, body: { [name]: 1 } });
      expect([rest.status, rest.text.length < 2_000]).toEqual([400, true]);
      const graphql = await ask(asker, `{ ${name} }`);
      expectBounded(messagesOf(graphql), graphql);
      const variable = await ask(asker, 'query($f: JobFilter) { jobs(filter: $f) { totalCount } }', {
        f: { [name]: 'v'.repeat(50_000) },
      });
      expectBounded(messagesOf(variable), variable);
    },
  ],

  [
    'ninety cyclic fragments are a mistake of the caller',
    async (asker) => {
      const fragments = Array.from(
        { length: 90 },
        (_, at) => `fragment F${at} on Query { ...F${(at + 1) % 90} ...F${(at + 2) % 90} }`,
      ).join(' ');
      const answer = await ask(asker, `{ ...F0 } ${fragments}`);
      expect(answer.status).toBe(400);
      expectBounded(messagesOf(answer), answer);
      for (const { extensions } of read(answer).errors ?? [])
        expect(extensions.code).toMatch(/^(VALIDATION_FAILED|MALFORMED_REQUEST)$/);
    },
  ],

  [
    'sixteen pages of long texts are refused by what they cost, while one always fits',
    async (asker) => {
      const { token } = asker.people.homeowner();
      const page = 'jobs(first: 100) { totalCount nodes { id title description requirements status category city } }';
      const many = read(await ask(asker, `{ ${aliased(16, page)} }`, {}, { token }));
      expect(many.errors?.map(({ extensions }) => extensions.code)).toEqual(['VALIDATION_FAILED']);
      expect(read(await ask(asker, `{ ${page} }`, {}, { token })).errors).toBeUndefined();
    },
  ],
];

const messagesOf = (answer: HttpAnswer) => (read(answer).errors ?? []).map(({ message }) => message);

function expectNoDryRun(answer: HttpAnswer): void {
  const { errors, extensions } = read(answer);
  expect([answer.status, errors, answer.headers['dry-run'], extensions?.dryRun]).toEqual([
    200,
    undefined,
    undefined,
    undefined,
  ]);
}

function expectReplayed(answer: HttpAnswer): void {
  expect([answer.status, read(answer).errors, answer.headers['idempotency-replayed']]).toEqual([
    200,
    undefined,
    'true',
  ]);
}

/** One more may say how many were left out. */
function expectBounded(problems: readonly string[], { text }: HttpAnswer): void {
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.length).toBeLessThanOrEqual(ERRORS_MAX + 1);
  expect(Math.max(...problems.map(({ length }) => length))).toBeLessThanOrEqual(ERROR_TEXT_MAX);
  expect(text).not.toContain('"INTERNAL"');
}
