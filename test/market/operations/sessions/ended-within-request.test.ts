/** A request that ends its own session: later fields are rejected and change nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { homeowner, programOf, type Person } from '../../../story/cast.js';
import { mailTo } from '../../mail/mailbox.js';
import { connectAs, JOB_EVENTS, MY_EVENTS, refusalOf } from '../../../platform/graphql/streams/clients.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

/** A mutation that ends sessions, and its sender. By default, the person sends it with their session. */
interface Ending {
  readonly mutation: string;
  readonly input?: object;
  readonly token?: string;
  /** The field before it. By default, it creates a job. */
  readonly first?: string;
}

const sessionOf = async ({ userId }: Person) =>
  (await app.sql<{ id: string }[]>`select id from sessions where user_id = ${userId} order by created_at`)[0]?.id ?? '';

async function resetLinkOf({ email }: Person): Promise<string> {
  await app.rest('POST', '/v1/auth/password-reset', { body: { email } });
  return (await mailTo(app, email, 'Set a new password')).token;
}

async function undoLinkOf({ email, password, token }: Person): Promise<string> {
  const confirm = async (to: string, subject: string) => {
    const body = { token: (await mailTo(app, to, subject)).token };
    expect((await app.rest('POST', '/v1/auth/verify-email', { body })).status).toBe(200);
  };
  await confirm(email, 'Confirm your email address');
  const moved = `moved.${email}`;
  await app.rest('POST', '/v1/me/email', { token, body: { email: moved, current_password: password } });
  await confirm(moved, 'Confirm your new email address');
  return (await mailTo(app, email, 'Your account’s email address was changed')).token;
}

const RESET = 'resetPassword(input: $input) { changed }';
const resetInput = async (person: Person) => ({ token: await resetLinkOf(person), newPassword: 'a password anew' });

const INPUT_TYPES: Readonly<Record<string, string>> = {
  resetPassword: 'ResetPasswordInput',
  undoEmailChange: 'UndoEmailChangeInput',
  refreshSession: 'RefreshSessionInput',
  changePassword: 'ChangePasswordInput',
};

async function sendBetweenTwoJobs(person: Person, ending: Ending, headers = {}) {
  const { mutation, input, token = person.token, first } = ending;
  const type = INPUT_TYPES[mutation.split('(')[0] ?? ''];
  const job = (title: string) => `createJob(input: { title: "${title}", description: "It leaks." }) { job { id } }`;
  const { data, errors } = await app.graphql(
    `mutation ${input ? `($input: ${type}!)` : ''} { a: ${first ?? job('Before')} b: ${mutation} c: ${job('After')} }`,
    { token, headers, ...(input && { variables: { input } }) },
  );
  const rows = await app.sql<{ title: string }[]>`select title from jobs where homeowner_id = ${person.profileId}`;
  return {
    created: rows.map(({ title }) => title).toSorted(),
    refusals: (errors ?? []).map(({ path, extensions }) => [path?.[0], extensions.code, extensions.reason]),
    ended: data?.b,
  };
}

const REFUSED_AFTERWARDS = [['c', 'UNAUTHENTICATED', 'session_ended']];

describe("a document with a field that ends its caller's session", () => {
  const ENDINGS: readonly [name: string, end: (hanna: Person) => Ending | Promise<Ending>][] = [
    ['logOut', () => ({ mutation: 'logOut { sessionId }' })],
    ['endSession', async (hanna) => ({ mutation: `endSession(id: "${await sessionOf(hanna)}") { session { id } }` })],
    ['resetPassword', async (hanna) => ({ mutation: RESET, input: await resetInput(hanna) })],
    [
      'undoEmailChange',
      async (hanna) => ({
        mutation: 'undoEmailChange(input: $input) { email }',
        input: { token: await undoLinkOf(hanna) },
        // If a job were created after the change, support would have to decide about the undo.
        first: 'endOtherSessions { endedCount }',
      }),
    ],
    [
      'resetPassword by a program with an API key',
      async (hanna) => {
        const { token } = await programOf(app, hanna);
        return { mutation: RESET, input: await resetInput(hanna), token };
      },
    ],
  ];

  it.each(ENDINGS)('creates no job after %s', async (_name, end) => {
    const hanna = await homeowner(app, 'Hanna');
    const ending = await end(hanna);
    // Puts the session in the server's memory.
    expect((await app.rest('GET', '/v1/me', { token: hanna.token })).status).toBe(200);
    const { created, refusals, ended } = await sendBetweenTwoJobs(hanna, ending);
    expect(ended).not.toBeNull();
    expect({ created, refusals }).toEqual({ created: ending.first ? [] : ['Before'], refusals: REFUSED_AFTERWARDS });
  });

  it('creates no job after refreshSession detects a stolen token and ends the session', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await app.rest('POST', '/v1/auth/refresh', { body: { refresh_token: hanna.refreshToken } });
    await app.sql`update refresh_tokens set used_at = used_at - interval '1 hour' where used_at is not null`;
    const { created, refusals } = await sendBetweenTwoJobs(hanna, {
      mutation: 'refreshSession(input: $input) { token }',
      input: { refreshToken: hanna.refreshToken },
    });
    expect({ created, refusals }).toEqual({
      created: ['Before'],
      refusals: [['b', 'INVALID_REFRESH_TOKEN', 'reused'], ...REFUSED_AFTERWARDS],
    });
  });

  it('rejects later fields in a dry run as in a real call, and the session stays active', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const mutation = `endSession(id: "${await sessionOf(hanna)}") { session { id } }`;
    const { created, refusals } = await sendBetweenTwoJobs(hanna, { mutation }, { 'dry-run': 'true' });
    expect({ created, refusals }).toEqual({ created: [], refusals: REFUSED_AFTERWARDS });
    expect((await app.rest('GET', '/v1/me', { token: hanna.token })).status).toBe(200);
  });
});

describe('a document with a field that ends other sessions', () => {
  const ENDINGS: readonly [name: string, end: (hanna: Person, other: Person) => Ending | Promise<Ending>][] = [
    ['endOtherSessions', () => ({ mutation: 'endOtherSessions { endedCount }' })],
    [
      'changePassword',
      ({ password: currentPassword }) => ({
        mutation: 'changePassword(input: $input) { changed }',
        input: { currentPassword, newPassword: 'a password anew' },
      }),
    ],
    [
      'revokeApiKey',
      async (hanna) => {
        await programOf(app, hanna);
        const [key] = await app.sql<{ id: string }[]>`select id from api_keys where user_id = ${hanna.userId}`;
        return { mutation: `revokeApiKey(id: "${key?.id}") { apiKey { id } }` };
      },
    ],
    ['resetPassword for someone else', async (_, other) => ({ mutation: RESET, input: await resetInput(other) })],
  ];

  it.each(ENDINGS)('continues after %s', async (_name, end) => {
    const [hanna, other] = [await homeowner(app, 'Hanna'), await homeowner(app, 'Olaf')];
    const { created, refusals } = await sendBetweenTwoJobs(hanna, await end(hanna, other));
    expect({ created, refusals }).toEqual({ created: ['After', 'Before'], refusals: [] });
  });
});

it("a WebSocket doesn't run such a document, and closes when a link ends its session", async () => {
  const hanna = await homeowner(app, 'Hanna');
  const { id } = (await app.rest('POST', '/v1/jobs', { token: hanna.token, body: { title: 'A', description: 'B' } }))
    .body;
  const newPassword = 'a password anew';
  const [token, { connected, closed, subscribe }] = [await resetLinkOf(hanna), connectAs(app.url, hanna)];
  const events = subscribe(MY_EVENTS);
  const mutation = subscribe(
    `mutation { a: createJob(input: { title: "One", description: "It leaks." }) { job { id } }
      b: resetPassword(input: { token: "${token}", newPassword: "${newPassword}" }) { changed } }`,
  );
  expect(await refusalOf(mutation)).toEqual(['VALIDATION_FAILED']);
  await connected;
  const reset = await app.rest('POST', '/v1/auth/password-reset/confirm', {
    body: { token, new_password: newPassword },
  });
  expect(reset.status).toBe(200);
  expect(await closed).toMatchObject({ code: 4401 });
  await events.ended;
  const again = connectAs(app.url, hanna);
  again.subscribe(JOB_EVENTS, { job: id });
  expect(await again.closed).toMatchObject({ code: 4401 });
  const [row] = await app.sql`select count(*)::int as jobs from jobs where homeowner_id = ${hanna.profileId}`;
  expect(row).toEqual({ jobs: 1 });
});
