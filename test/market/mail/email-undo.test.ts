/** Undoing an email change: who can do it, what it gives back, and what support decides in a dispute. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteExpired } from '../../../src/market/store/housekeeping.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { admin, contractor, homeowner, join, programOf, type Person } from '../../story/cast.js';
import { DRAFT } from '../../story/journey.js';
import { mailboxPage, mailsTo, mailTo } from './mailbox.js';

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await openTestApp({ PAYMENTS: 'local' });
  ada = await admin(app);
});
afterAll(() => app.close());

const CONFIRM = 'Confirm your email address';
const NEW_ADDRESS = 'Confirm your new email address';
const CHANGED = 'Your account’s email address was changed';
const UNDONE = 'Your account’s email address was changed back';
const PENDING = 'Someone asked to undo your email change';
const GRANTED = 'Your account belongs to this email address';
const DENIED = 'Our decision about the email change';
const RESET = 'Set a new password';

const post = (path: string, body: object, token?: string) => app.rest('POST', `/v1${path}`, { body, token });
const logIn = (email: string, password: string) => post('/auth/login', { email, password });
const signUp = (email: string) =>
  post('/auth/signup/homeowner', { email, password: 'a good password', first_name: 'A', last_name: 'B' });
const buy = ({ token }: Pick<Person, 'token'>) => post('/purchases', { pack: 'small', return_url: app.url }, token);
const undo = (token: string) => post('/auth/undo-email-change', { token });
const asAdmin = async ({ userId }: Person) => (await app.rest('GET', `/v1/users/${userId}`, { token: ada.token })).body;
const settle = (userId: string, keep: string, token = ada.token) =>
  post(`/users/${userId}/email-undo`, { keep, reason: 'Knows the first job.' }, token);

async function confirm({ email }: Person): Promise<void> {
  const { token } = await mailTo(app, email, CONFIRM);
  const { status, body } = await post('/auth/verify-email', { token });
  expect([status, body.email]).toEqual([200, email]);
}

async function move(person: Person, email: string, { token, password } = person): Promise<void> {
  expect((await post('/me/email', { email, current_password: password }, token)).status).toBe(200);
  const link = await mailTo(app, email, NEW_ADDRESS);
  expect((await post('/auth/verify-email', { token: link.token })).status).toBe(200);
}

/** An account that moved away from a confirmed address, and the link to undo that. */
async function moved(kind: 'homeowner' | 'contractor', name: string, before?: (person: Person) => Promise<string>) {
  const person = await join(app, kind, name);
  await confirm(person);
  const made = await before?.(person);
  const current = `new.${person.email}`;
  await move(person, current);
  return { person, current, made, link: await mailTo(app, person.email, CHANGED) };
}

/** An account that moved twice and was used in between, with the links to undo either change. */
async function movedTwice(name: string) {
  const { person, current: second, link: first } = await moved('homeowner', name);
  await post('/jobs', DRAFT, person.token);
  const third = `second.${person.email}`;
  await move(person, third);
  return { person, second, third, links: { first, second: await mailTo(app, second, CHANGED) } };
}

async function createDraft({ token }: Person): Promise<string> {
  return (await post('/jobs', DRAFT, token)).body.id;
}

/** Creates a bid on someone else's job, and returns its path. */
async function createBid({ token }: Person): Promise<string> {
  const owner = await homeowner(app, 'Olive');
  const job = await createDraft(owner);
  await post(`/jobs/${job}/publish`, {}, owner.token);
  return `/jobs/${job}/bids/${(await post(`/jobs/${job}/bids`, { amount: 100 }, token)).body.id}`;
}

describe('an unconfirmed address', () => {
  it("can't take back the account that left it, and is immediately free", async () => {
    const tina = await homeowner(app, 'Tina.Typo');
    const first = await mailTo(app, tina.email, CONFIRM);
    await move(tina, 'tina.right@example.test');
    const kinds = await app.sql`select kind from mails where email = ${tina.email}`;
    expect([...kinds]).toEqual([{ kind: 'email_verification' }]);
    // The mailbox may be a stranger's, so the confirmation link that went there no longer works either.
    expect((await post('/auth/verify-email', { token: first.token })).body.details.reason).toBe('expired');
    expect((await signUp(tina.email)).status).toBe(201);
    expect((await logIn('tina.right@example.test', tina.password)).body.user.id).toBe(tina.userId);
  });
});

describe('a confirmed address', () => {
  it('is reserved while its owner can take the account back', async () => {
    const { person } = await moved('homeowner', 'Rita');
    expect((await signUp(person.email)).body.details.code).toBe('EMAIL_TAKEN');
  });

  it('gets back an unused account; the address that loses it gets an email, and admins see it', async () => {
    const { person, current, link } = await moved('homeowner', 'Uma');
    // Setting a new password doesn't count as using the account.
    await post('/auth/password-reset', { email: current });
    const stolen = await mailTo(app, current, RESET);
    await post('/auth/password-reset/confirm', { token: stolen.token, new_password: 'mine now' });

    const { status, body } = await undo(link.token);
    expect([status, body.email, body.pending]).toEqual([200, person.email, false]);
    await mailTo(app, current, UNDONE);
    const { token } = await mailTo(app, person.email, RESET);
    expect((await logIn(current, 'mine now')).status).toBe(401);
    expect((await post('/auth/password-reset/confirm', { token, new_password: 'uma again' })).status).toBe(200);
    expect((await logIn(person.email, 'uma again')).body.user.id).toBe(person.userId);
    expect(await asAdmin(person)).toMatchObject({ email_undo: 'undone', email_undo_address: current });
    const own = (await app.rest('GET', '/v1/me', { token: (await logIn(person.email, 'uma again')).body.token })).body;
    expect(own.user).toMatchObject({ email: person.email });
  });
});

const profile = { homeowner: { address_line1: '1 Elm Street' }, user: { phone: '512 555 0100' } };
const USES: [use: string, kind: 'homeowner' | 'contractor', act: (person: Person) => Promise<number>][] = [
  [
    'filled in an address and a phone number',
    'homeowner',
    async ({ token }) => (await app.rest('PUT', '/v1/me', { token, body: profile })).status,
  ],
  ['created a job', 'homeowner', async ({ token }) => (await post('/jobs', DRAFT, token)).status],
  ['created and deleted a draft', 'homeowner', async (person) => deleteDraft(person, await createDraft(person))],
  ['bought tokens', 'homeowner', async (person) => (await buy(person)).status],
  ['submitted a bid', 'contractor', async (person) => ((await createBid(person)).includes('bid_') ? 201 : 400)],
];

const OLDER: [use: string, kind: 'homeowner' | 'contractor', before: typeof createDraft, act: typeof deleteDraft][] = [
  [
    'published an older draft',
    'homeowner',
    createDraft,
    async ({ token }, job) => (await post(`/jobs/${job}/publish`, {}, token)).status,
  ],
  ['deleted an older draft', 'homeowner', createDraft, deleteDraft],
  [
    'withdrawn an older bid',
    'contractor',
    createBid,
    async ({ token }, bid) => (await post(`${bid}/withdraw`, {}, token)).status,
  ],
];

async function deleteDraft({ token }: Person, job: string): Promise<number> {
  return (await app.rest('DELETE', `/v1/jobs/${job}`, { token })).status;
}

describe('an undo after the account was used', () => {
  it.each(USES)("doesn't return the account if its holder has %s", async (_use, kind, act) => {
    const { person, current, link } = await moved(kind, 'Vic');
    expect(await act(person)).toBeLessThan(300);
    const { status, body } = await undo(link.token);
    expect([status, body.email, body.pending]).toEqual([200, person.email, true]);
    // The account keeps working for whoever has it.
    expect((await app.rest('GET', '/v1/me', { token: person.token })).body.user.email).toBe(current);
    expect((await logIn(current, person.password)).status).toBe(200);
    await mailTo(app, current, PENDING);
    expect((await mailsTo(app, person.email)).map(({ subject }) => subject)).toEqual([CHANGED, CONFIRM]);
    expect((await undo(link.token)).body.details.reason).toBe('used');
    expect((await signUp(person.email)).body.details.code).toBe('EMAIL_TAKEN');
    expect(await asAdmin(person)).toMatchObject({ email_undo: 'pending', email_undo_address: person.email });
  });

  it.each(OLDER)("doesn't return the account if its holder has %s", async (_use, kind, before, act) => {
    const { person, current, made, link } = await moved(kind, 'Vico', before);
    expect(await act(person, String(made))).toBeLessThan(300);
    expect((await undo(link.token)).body.pending).toBe(true);
    expect((await logIn(current, person.password)).status).toBe(200);
  });

  it("hides from the account's holder that it is waiting, and which address asks", async () => {
    const { person, current, link } = await moved('homeowner', 'Valeria');
    await post('/jobs', DRAFT, person.token);
    expect((await undo(link.token)).body.pending).toBe(true);
    const { body: session } = await logIn(current, person.password);
    const { body: me } = await app.rest('GET', '/v1/me', { token: session.token });
    const { body: edited } = await app.rest('PUT', '/v1/me', { token: session.token, body: { user: me.user } });
    const { data } = await app.graphql('{ viewer { user { email emailUndo emailUndoAddress } } }', {
      token: session.token,
    });
    expect(data.viewer.user).toEqual({ email: current, emailUndo: null, emailUndoAddress: null });
    for (const { user } of [session, me, edited])
      expect(user).toMatchObject({ email: current, email_undo: null, email_undo_address: null });
  });

  it('waits for nobody if the account already has the address again, which gets a link', async () => {
    const { person, link } = await moved('homeowner', 'Bea');
    await post('/jobs', DRAFT, person.token);
    await move(person, person.email);
    expect((await undo(link.token)).body.pending).toBe(false);
    const { token } = await mailTo(app, person.email, RESET);
    expect((await post('/auth/password-reset/confirm', { token, new_password: 'bea again' })).status).toBe(200);
    expect((await logIn(person.email, 'bea again')).body.user.id).toBe(person.userId);
    const subjects = (await mailsTo(app, person.email)).map(({ subject }) => subject);
    expect(subjects).not.toContain(UNDONE);
    expect(await asAdmin(person)).toMatchObject({ email_undo: null, email_undo_address: null });
  });

  it('ignores what was done before the change', async () => {
    const nora = await homeowner(app, 'Nora');
    await confirm(nora);
    await app.rest('PUT', '/v1/me', { token: nora.token, body: profile });
    await post('/jobs', DRAFT, nora.token);
    await move(nora, 'nora.thief@example.test');
    expect((await undo((await mailTo(app, nora.email, CHANGED)).token)).body.pending).toBe(false);
  });

  it('blocks publishing, awarding, bidding, buying, and email changes until support decides, and says so', async () => {
    const { person, link } = await moved('homeowner', 'Wanda');
    const [carl, other] = [await moved('contractor', 'Walt'), await homeowner(app, 'Wilma')];
    const create = async ({ token }: Person) => (await post('/jobs', DRAFT, token)).body.id as string;
    const [draft, open, foreign] = [await create(person), await create(person), await create(other)];
    await post(`/jobs/${open}/publish`, {}, person.token);
    await post(`/jobs/${foreign}/publish`, {}, other.token);
    const bid = (await post(`/jobs/${open}/bids`, { amount: 100 }, carl.person.token)).body.id;
    expect((await undo(link.token)).body.pending).toBe(true);
    expect((await undo(carl.link.token)).body.pending).toBe(true);

    const program = await programOf(app, person);
    const awarding = { bid_id: bid };
    const changing = { email: 'w@example.test', current_password: person.password };
    const refused = [
      await post(`/jobs/${draft}/publish`, {}, person.token),
      await post(`/jobs/${draft}/publish`, {}, program.token),
      await post(`/jobs/${open}/award`, awarding, person.token),
      await post(`/jobs/${foreign}/bids`, { amount: 100 }, carl.person.token),
      await post('/me/email', changing, person.token),
      await buy(person),
      await buy(program),
      await app.rest('PUT', `/v1/jobs/${open}`, { token: person.token, body: { urgency: 'urgent' } }),
    ];
    expect(refused.map(({ status, body }) => [status, body.details.code, body.details.reason])).toEqual(
      refused.map(() => [403, 'FORBIDDEN', 'email_disputed']),
    );
    expect(await app.sql`select id from purchases where user_id = ${person.userId}`).toEqual([]);
    const free = await app.rest('PUT', `/v1/jobs/${open}`, { token: person.token, body: { budget_max: 900 } });
    expect(free.status).toBe(200);
    const award = `mutation { awardJob(id: "${open}", input: { bidId: "${bid}" }) { job { id } } }`;
    const { errors } = await app.graphql(award, { token: person.token });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', reason: 'email_disputed' });
    const foretold = async (job: string, { token }: Person, action: string) => {
      const { body } = await app.rest('GET', `/v1/jobs/${job}/actions`, { token });
      return body.data.find((one: { action: string }) => one.action === action);
    };
    for (const [job, who, action] of [
      [draft, person, 'publish'],
      [open, person, 'award'],
      [foreign, carl.person, 'submit_bid'],
    ] as const)
      expect(await foretold(job, who, action)).toMatchObject({ allowed: false, reason: 'FORBIDDEN' });
    expect((await app.rest('PUT', `/v1/jobs/${draft}`, { token: person.token, body: { title: 'Two' } })).status).toBe(
      200,
    );

    for (const { userId } of [person, carl.person]) expect((await settle(userId, 'current')).status).toBe(200);
    expect(await foretold(open, person, 'award')).toMatchObject({ allowed: true });
    expect((await buy(person)).status).toBe(201);
    expect((await post(`/jobs/${draft}/publish`, {}, person.token)).status).toBe(200);
    expect((await post(`/jobs/${open}/award`, awarding, person.token)).status).toBe(200);
    expect((await post(`/jobs/${foreign}/bids`, { amount: 100 }, carl.person.token)).status).toBe(201);
  });

  it('blocks revising an older bid until support decides, but not withdrawing it, and says so everywhere', async () => {
    const { person, made, link } = await moved('contractor', 'Willa', createBid);
    const { token } = person;
    const id = String(made).split('/').at(-1)!;
    // Willa uses her account after the change.
    await createBid(person);
    expect((await undo(link.token)).body.pending).toBe(true);

    const revise = (headers: Record<string, string> = {}) =>
      app.rest('PUT', `/v1${made}`, { token, body: { amount: 90 }, headers });
    for (const version of ['"1"', '"7"']) {
      const { status, body } = await revise({ 'if-match': version });
      expect([status, body.details.code, body.details.reason]).toEqual([403, 'FORBIDDEN', 'email_disputed']);
    }
    const { errors } = await app.graphql(
      'mutation($id: ID!) { reviseBid(id: $id, input: { amount: 90 }) { bid { amount } } }',
      { token, variables: { id } },
    );
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', reason: 'email_disputed' });
    const [row] = await app.sql`select amount::int, version from bids where id = ${id}`;
    expect(row).toEqual({ amount: 100, version: 1 });

    const allowed = async () => {
      const { body } = await app.rest('GET', `/v1/bids/${id}/actions`, { token });
      const { data } = await app.graphql(
        `query($id: ID!, $job: ID!) { node(id: $id) { ... on Bid { ...Actions } } job(id: $job) { myBid { ...Actions } }
          viewer { bids(last: 1) { nodes { id ...Actions } } } }
          fragment Actions on Bid { availableActions { action allowed } }`,
        { token, variables: { id, job: String(made).split('/')[2] } },
      );
      return [
        body.data,
        ...[data.node, data.job.myBid, ...data.viewer.bids.nodes].map((bid) => bid.availableActions),
      ].map((actions: { action: string; allowed: boolean }[]) =>
        actions.flatMap((one) => (one.allowed ? one.action.toLowerCase() : [])).join(),
      );
    };
    expect(await allowed()).toEqual(['withdraw', 'withdraw', 'withdraw', 'withdraw']);
    expect((await settle(person.userId, 'current')).status).toBe(200);
    expect(await allowed()).toEqual(Array.from({ length: 4 }, () => 'withdraw,revise'));
    expect((await revise()).body).toMatchObject({ amount: 90, version: 2 });
  });

  it('waits for support however long that takes, and admins can list the waiting accounts', async () => {
    const { person, current, link } = await moved('homeowner', 'Xenia');
    await post('/jobs', DRAFT, person.token);
    await undo(link.token);
    await app.sql`update mails set created_at = now() - interval '90 days', expires_at = now() - interval '80 days'
      where user_id = ${person.userId} or email in (${person.email}, ${current})`;
    const failures: unknown[] = [];
    expect((await deleteExpired(app.services.db, (_, error) => failures.push(error))).mails).toBeGreaterThan(0);
    expect([await mailsTo(app, person.email), failures]).toEqual([[], []]);
    expect((await signUp(person.email)).body.details.code).toBe('EMAIL_TAKEN');
    const listed = async (query: string) =>
      (await app.rest('GET', `/v1/users?${query}`, { token: ada.token })).body.data.map(({ id }: { id: string }) => id);
    expect(await listed('email_undo=pending')).toContain(person.userId);
    expect(await listed(`email_undo=pending&search=${current}`)).toEqual([person.userId]);
    expect(await listed('email_undo=pending&user_type=contractor&verified=false')).not.toContain(person.userId);
    expect(await listed('email_undo=settled')).not.toContain(person.userId);
    const { data } = await app.graphql(
      '{ users(filter: { emailUndo: PENDING }) { nodes { id emailUndo } totalCount } }',
      { token: ada.token },
    );
    expect(data.users.nodes).toContainEqual({ id: person.userId, emailUndo: 'PENDING' });
    expect(data.users.totalCount).toBe(data.users.nodes.length);
  });

  it("can't be bypassed by undoing a later change, about which support decides next", async () => {
    const { person, second, third, links } = await movedTwice('Yves');
    expect((await undo(links.first.token)).body.pending).toBe(true);
    expect((await undo(links.second.token)).body).toMatchObject({ email: second, pending: true });
    expect(await asAdmin(person)).toMatchObject({ email: third, email_undo_address: person.email });
    expect((await settle(person.userId, 'former')).body).toMatchObject({
      email: person.email,
      email_undo: 'pending',
      email_undo_address: second,
    });
    await mailTo(app, person.email, PENDING);
    expect((await settle(person.userId, 'current')).body).toMatchObject({ email: person.email, email_undo: 'settled' });
    await mailTo(app, second, DENIED);
    expect((await signUp(second)).status).toBe(201);
  });

  it("of a later change doesn't keep the first address from claiming the account", async () => {
    const { person, second, third, links } = await movedTwice('Yolanda');
    await post('/jobs', DRAFT, person.token);
    expect((await undo(links.second.token)).body.pending).toBe(true);
    for (let time = 0; time < 2; time += 1)
      expect((await undo(links.first.token)).body).toMatchObject({ email: person.email, pending: true });
    expect(await asAdmin(person)).toMatchObject({ email: third, email_undo: 'pending', email_undo_address: second });
    // Both claims remain, however long they wait.
    await app.sql`update mails set created_at = created_at - interval '90 days' where user_id = ${person.userId}`;
    await deleteExpired(app.services.db, (_, error) => expect(error).toBeUndefined());
    expect((await signUp(person.email)).body.details.code).toBe('EMAIL_TAKEN');
    expect((await settle(person.userId, 'current')).body).toMatchObject({
      email: third,
      email_undo: 'pending',
      email_undo_address: person.email,
    });
    expect((await undo(links.first.token)).body.details.reason).toBe('used');
    expect((await settle(person.userId, 'former')).body).toMatchObject({ email: person.email, email_undo: 'settled' });
    await mailTo(app, third, DENIED);
  });

  it('goes to support again after it has decided about the account, even if nobody has used it since', async () => {
    const { person, second, third, links } = await movedTwice('Ylva');
    expect((await undo(links.first.token)).body.pending).toBe(true);
    expect((await settle(person.userId, 'current')).body.email_undo).toBe('settled');
    expect((await undo(links.second.token)).body.pending).toBe(true);
    expect(await asAdmin(person)).toMatchObject({ email: third, email_undo: 'pending', email_undo_address: second });
  });

  it('is over once support has given the account to an earlier address', async () => {
    const { person, links } = await movedTwice('Yorick');
    expect((await undo(links.first.token)).body.pending).toBe(true);
    expect((await settle(person.userId, 'former')).body).toMatchObject({ email: person.email, email_undo: 'settled' });
    expect((await undo(links.second.token)).body.details.reason).toBe('expired');
  });

  it('stays possible for an earlier address when support has decided about a later one', async () => {
    const { person, second, links } = await movedTwice('Yuri');
    await post('/jobs', DRAFT, person.token);
    expect((await undo(links.second.token)).body.pending).toBe(true);
    expect((await settle(person.userId, 'former')).body).toMatchObject({ email: second, email_undo: 'settled' });
    expect((await undo(links.first.token)).body.pending).toBe(true);
    expect(await asAdmin(person)).toMatchObject({ email: second, email_undo_address: person.email });
  });

  it('cancels an email change that was requested before', async () => {
    const { person, link } = await moved('homeowner', 'Zoe');
    await post('/jobs', DRAFT, person.token);
    const email = `away.${person.email}`;
    await post('/me/email', { email, current_password: person.password }, person.token);
    const away = await mailTo(app, email, NEW_ADDRESS);
    await undo(link.token);
    expect((await post('/auth/verify-email', { token: away.token })).body.details.reason).toBe('expired');
  });
});

describe('a change back to the former address', () => {
  it('tells the address that loses the account, and undoes the change if nobody used the account', async () => {
    const { person, current, link } = await moved('homeowner', 'Rolf');
    await move(person, person.email);
    await mailTo(app, current, UNDONE);
    expect((await mailsTo(app, current)).map(({ subject }) => subject)).not.toContain(CHANGED);
    expect((await signUp(current)).status).toBe(201);
    expect((await undo(link.token)).body).toMatchObject({ email: person.email, pending: false });
  });

  it('can be claimed by the address that used the account, and then support decides', async () => {
    const { person, current, link } = await moved('homeowner', 'Runa');
    await post('/jobs', DRAFT, person.token);
    await move(person, person.email);
    const claim = await mailTo(app, current, CHANGED);
    // The former address's own link can't settle this, and the claim doesn't give the account to anybody.
    expect((await undo(link.token)).body).toMatchObject({ email: person.email, pending: false });
    expect((await signUp(current)).body.details.code).toBe('EMAIL_TAKEN');
    expect((await undo(claim.token)).body).toMatchObject({ email: current, pending: true });
    expect(await asAdmin(person)).toMatchObject({ email: person.email, email_undo_address: current });
    await mailTo(app, person.email, PENDING);
  });

  it('by way of a third address gives the account to none of the addresses in between without support', async () => {
    const { person, second, links } = await movedTwice('Rhea');
    await move(person, person.email);
    expect((await undo(links.second.token)).body).toMatchObject({ email: second, pending: true });
    expect(await asAdmin(person)).toMatchObject({ email: person.email, email_undo_address: second });
    expect((await logIn(person.email, person.password)).body.user.id).toBe(person.userId);
  });
});

describe('the account’s events', () => {
  const eventsOf = ({ userId }: Person) =>
    app.sql`select type, actor_id, data from account_events where user_id = ${userId} order by occurred_at, type`;
  const event = (type: string, cause?: string, actor: string | null = null) => ({
    type: `account.${type}`,
    actor_id: actor,
    data: cause === undefined ? {} : { cause },
  });
  const CHANGED_BY_LINK = event('email_changed', 'change');

  it('say that the address changed, that it changed back, and that the old password is blocked', async () => {
    const { person, link } = await moved('homeowner', 'Vera');
    expect([...(await eventsOf(person))]).toEqual([CHANGED_BY_LINK]);
    expect((await undo(link.token)).status).toBe(200);
    expect([...(await eventsOf(person))]).toEqual([
      CHANGED_BY_LINK,
      event('email_changed', 'undo'),
      event('password_changed', 'undo'),
    ]);
    expect((await undo(link.token)).status).toBe(400);
    expect(await eventsOf(person)).toHaveLength(3);
  });

  it('say that an undo is waiting for support, and then which admin gave the account back', async () => {
    const { person, link } = await moved('homeowner', 'Vito');
    await createDraft(person);
    expect((await undo(link.token)).body.pending).toBe(true);
    const waiting = [CHANGED_BY_LINK, event('email_undo_pending')];
    expect([...(await eventsOf(person))]).toEqual(waiting);
    expect((await settle(person.userId, 'former')).status).toBe(200);
    expect([...(await eventsOf(person))]).toEqual([
      ...waiting,
      event('email_changed', 'support', ada.userId),
      event('password_changed', 'support', ada.userId),
    ]);
  });

  it('say nothing if the account keeps its address, unless another undo is now waiting', async () => {
    const { person, second, links } = await movedTwice('Vanja');
    expect((await undo(links.first.token)).body.pending).toBe(true);
    await createDraft(person);
    expect((await undo(links.second.token)).body).toMatchObject({ email: second, pending: true });
    const waiting = [CHANGED_BY_LINK, CHANGED_BY_LINK, event('email_undo_pending')];
    expect([...(await eventsOf(person))]).toEqual(waiting);
    expect((await settle(person.userId, 'current')).status).toBe(200);
    expect([...(await eventsOf(person))]).toEqual([...waiting, event('email_undo_pending')]);
    expect((await settle(person.userId, 'current')).status).toBe(200);
    expect(await eventsOf(person)).toHaveLength(4);
  });
});

describe('support', () => {
  it('lets the current address keep the account: it gets a link, and the other address gets an email', async () => {
    const { person, current, link } = await moved('homeowner', 'Anna');
    await post('/jobs', DRAFT, person.token);
    await undo(link.token);
    const { status, body } = await settle(person.userId, 'current');
    expect([status, body.email, body.email_undo]).toEqual([200, current, 'settled']);
    await mailTo(app, person.email, DENIED);
    const { token } = await mailTo(app, current, GRANTED);
    // Nobody is logged out until the new password is set.
    expect((await app.rest('GET', '/v1/me', { token: person.token })).status).toBe(200);
    expect((await post('/auth/password-reset/confirm', { token, new_password: 'anna again' })).status).toBe(200);
    expect((await logIn(current, 'anna again')).status).toBe(200);
    // The former address is free again.
    expect((await signUp(person.email)).status).toBe(201);
    const again = await settle(person.userId, 'former');
    expect([again.status, again.body.details.code]).toEqual([400, 'INVALID_TRANSITION']);
  });

  it('gives the account to the former address and locks out its holder', async () => {
    const { person, current, link } = await moved('contractor', 'Bert');
    await app.rest('PUT', '/v1/me', { token: person.token, body: { contractor: { bio: 'Pipes.' } } });
    const program = await programOf(app, person);
    await undo(link.token);
    const document = `mutation ($id: ID!) { settleEmailUndo(userId: $id, input: { keep: FORMER, reason: "Proof." }) {
      user { email emailUndo emailUndoAddress } } }`;
    const { data } = await app.graphql(document, { token: ada.token, variables: { id: person.userId } });
    expect(data.settleEmailUndo.user).toEqual({ email: person.email, emailUndo: 'SETTLED', emailUndoAddress: current });
    for (const { token } of [person, program]) expect((await app.rest('GET', '/v1/me', { token })).status).toBe(401);
    expect((await logIn(current, person.password)).status).toBe(401);
    expect((await logIn(person.email, person.password)).status).toBe(401);
    await mailTo(app, current, DENIED);
    const { token } = await mailTo(app, person.email, GRANTED);
    expect((await post('/auth/password-reset/confirm', { token, new_password: 'bert again' })).status).toBe(200);
    expect((await logIn(person.email, 'bert again')).body.user.id).toBe(person.userId);
    const [recorded] = await app.sql`select admin_id, reason, decision from admin_actions
      where action = 'settleEmailUndo' and user_id = ${person.userId}`;
    expect(recorded).toEqual({ admin_id: ada.userId, reason: 'Proof.', decision: 'former' });
  });

  it('decides only if an undo is waiting, and nobody else can decide', async () => {
    const [nils, carla] = [await homeowner(app, 'Nils'), await contractor(app, 'Carla')];
    expect((await settle(nils.userId, 'former', carla.token)).status).toBe(403);
    expect((await settle(nils.userId, 'both')).body.details.code).toBe('VALIDATION_FAILED');
    expect((await settle(`usr_${'0'.repeat(27)}`, 'former')).status).toBe(404);
    expect((await settle(nils.userId, 'former')).body.details.code).toBe('INVALID_TRANSITION');
    const mine = (await app.rest('GET', '/v1/me', { token: nils.token })).body.user;
    expect([mine.email_undo, mine.email_undo_address]).toEqual([null, null]);
  });

  it('decides only when logged in: a program with an API key cannot', async () => {
    const { person, link } = await moved('homeowner', 'Nora.Key');
    await post('/jobs', DRAFT, person.token);
    await undo(link.token);
    const { token } = await programOf(app, ada);
    for (const refused of [
      await settle(person.userId, 'former', token),
      await post(`/users/${person.userId}/end-sessions`, { reason: 'Stolen.' }, token),
    ])
      expect([refused.status, refused.body.details.code, refused.body.error]).toEqual([
        403,
        'FORBIDDEN',
        expect.stringMatching(/^An API key can’t do this\. Log in/),
      ]);
    expect(await asAdmin(person)).toMatchObject({ email_undo: 'pending' });
    expect((await app.rest('GET', '/v1/me', { token: person.token })).status).toBe(200);
  });

  it("can't decide about its own account", async () => {
    await app.sql`update users set email_undo = 'pending', email_undo_address = 'ada.former@example.test'
      where id = ${ada.userId}`;
    const own = await settle(ada.userId, 'current');
    expect([own.status, own.body.details.code]).toEqual([403, 'FORBIDDEN']);
    expect(await asAdmin(ada)).toMatchObject({ email_undo: 'pending' });
    await app.sql`update users set email_undo = null, email_undo_address = null where id = ${ada.userId}`;
  });

  it("sends links with emails that don't claim the reader requested them", async () => {
    const [vera, moving] = [await homeowner(app, 'Vera'), await moved('homeowner', 'Vroni')];
    expect((await app.rest('POST', `/v1/users/${vera.userId}/password-reset`, { token: ada.token })).status).toBe(200);
    await mailTo(app, vera.email, RESET);
    await undo(moving.link.token);
    await mailTo(app, moving.person.email, RESET);
    const page = await mailboxPage(app);
    for (const email of [vera.email, moving.person.email]) {
      const article = page.split('<article').find((one) => one.includes(`To ${email}`) && one.includes(RESET));
      expect(article).toBeDefined();
      expect(article).not.toMatch(/you,? asked|probably you/);
    }
  });
});
