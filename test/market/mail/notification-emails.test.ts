/** Emails about notifications, as a real mail server receives them: the recipients, how often, and how to stop them. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { emailNotifications } from '../../../src/market/mail/notification-emails.js';
import { JOB_STATES } from '../../../src/market/rules/states.js';
import { JWT_SECRET, openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { award, bidOf, must } from '../../story/awards.js';
import { callRest } from '../../story/calls.js';
import { contractor, homeowner, type Person } from '../../story/cast.js';
import { DRAFT, gather, givenJob, type GivenJob, type People } from '../../story/journey.js';
import { openTimedApp } from '../../story/deadlines.js';
import { allNumbered } from '../../platform/live/positions.js';
import { until } from '../../platform/security/until.js';
import { mailTo } from './mailbox.js';
import { openMailServer, type MailServer, type ReceivedMail } from './mail-server.js';

/** The tests decide when emails are retried. On a busy machine, the first retry could come too soon. */
vi.mock('../../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/market/rules/market-limits.js')>();
  const { MAIL } = limits;
  return { ...limits, MAIL: { ...MAIL, connectMs: 100_000, retryAfterSeconds: MAIL.retryAfterSeconds.with(0, 300) } };
});

let server: MailServer;
let app: TestApp;
let people: People;

const settings = () => ({
  SMTP_URL: server.url,
  MAIL_FROM: 'market@example.test',
  PUBLIC_URL: 'https://jobs.test',
  APP_JOB_URL: 'https://app.test/jobs/{id}',
  DIGEST_HOUR_UTC: '0',
});

beforeAll(async () => {
  server = await openMailServer();
  app = await openTestApp(settings());
  await sendNoDigests();
  people = await gather(app);
  await confirm(people.owner, people.awardee, people.bidder);
});
afterAll(async () => {
  await app.close();
  await server.close();
});
afterEach(() => {
  server.refuse = undefined;
});

async function confirm(...who: readonly Person[]): Promise<void> {
  for (const { userId } of who) await app.sql`update users set email_verified = true where id = ${userId}`;
}

/** Resolves once a server has decided about every notification, and no email is due. */
async function settled(): Promise<void> {
  await until(async () => {
    app.sendEmails();
    const [row] = await app.sql`select mailed_up_to = greatest(
        (select max(position) from events), (select max(position) from account_events))
      and not exists (select from events where position is null)
      and not exists (select from account_events where position is null)
      and not exists (select from tasks where kind in ('mail', 'notice')
        and (run_at <= now() or leased_until is not null))
      and (select matched_up_to = stored_up_to and s.mailed_up_to = matched_up_to from search_cursor s) as done
      from notification_cursor`;
    return row?.done === true;
  });
}

const subjectOf = ({ headers }: ReceivedMail) => /^Subject: (.+)$/m.exec(headers)?.[1]?.trim();
const CONFIRMATION = 'Confirm your email address';

/** The subjects of the emails that this person got, besides the confirmation of their address. */
async function subjectsTo({ email }: Person): Promise<(string | undefined)[]> {
  return (await mailsTo(email)).map(subjectOf);
}

async function mailsTo(email: string): Promise<ReceivedMail[]> {
  await settled();
  return server.inbox.filter(({ to, ...mail }) => to.includes(email) && subjectOf({ to, ...mail }) !== CONFIRMATION);
}

async function openJob(owner: Person): Promise<GivenJob> {
  const created = await callRest(app, 'create', { by: owner, body: DRAFT });
  const job: GivenJob = { id: created.body.id, state: 'draft', bids: { awardee: null, bidder: null } };
  await must(app, 'publish', owner, job);
  return job;
}

/** The column has milliseconds, so `now()` could be rounded up to a time in the future. */
const hurry = () => app.sql`update tasks set run_at = now() - interval '1 second' where kind = 'notice'`;

/** Otherwise, a test that runs at midnight would get the day's digest. */
const sendNoDigests = () => app.sql`update notification_cursor set digested_on = 'infinity'`;

async function sendDigests(): Promise<void> {
  await settled();
  await app.sql`update notification_cursor set digested_on = '-infinity'`;
  await until(async () => {
    app.sendEmails();
    const [row] = await app.sql`select digested_on > '-infinity' and digest_up_to is null as done
      from notification_cursor`;
    return row?.done === true;
  });
  await sendNoDigests();
}

const markedOf = async ({ userId }: Person) =>
  (await app.sql`select from notifications where user_id = ${userId} and is_emailed_later`).length;

/** A homeowner with a confirmed address and their open job. */
async function ownerWithJob(name: string) {
  const owner = await homeowner(app, name);
  await confirm(owner);
  return { owner, job: await openJob(owner) };
}

function unsubscribeLinkIn(mail: ReceivedMail | undefined): string {
  const link = /^List-Unsubscribe: <(\S+)>\r?$/m.exec(mail?.headers ?? '')?.[1] ?? '';
  expect(link).toMatch(/^https:\/\/jobs\.test\/unsubscribe\//);
  return link.replace('https://jobs.test', app.url);
}

const MATCH = 'A new job matches your search';

describe('a match of a saved search', () => {
  async function searcher(name: string, alert: string): Promise<Person> {
    const by = await contractor(app, name);
    await confirm(by);
    const body = { name: 'Roofs', filter: { categories: ['roofing'], search: name }, alert };
    expect((await app.rest('POST', '/v1/saved-searches', { token: by.token, body })).status).toBe(201);
    return by;
  }

  async function publishFor(...names: readonly string[]): Promise<string> {
    const body = { ...DRAFT, description: names.join() };
    const created = await callRest(app, 'create', { by: people.owner, body });
    expect((await callRest(app, 'publish', { by: people.owner, job: created.body.id })).status).toBe(200);
    return created.body.id;
  }

  it('is emailed now, in the digest, or not at all, as the search says', async () => {
    const now = await searcher('Noemi', 'now');
    const daily = await searcher('Dalia', 'daily');
    const off = await searcher('Ofelia', 'off');
    const job = await publishFor('Noemi', 'Dalia', 'Ofelia');
    const mails = await mailsTo(now.email);
    expect(mails.map(subjectOf)).toEqual([MATCH]);
    const [{ content = '' } = {}] = mails;
    expect(content).toContain(`https://app.test/jobs/${job}`);
    expect(content).toContain('You’re getting this email because you saved a search.');
    for (const text of ['Noemi', DRAFT.title, DRAFT.address_line1, 'Roofs', DRAFT.city])
      expect(content).not.toContain(text);
    expect(await subjectsTo(daily)).toEqual([]);
    await sendDigests();
    const [{ content: digest = '' } = {}] = await mailsTo(daily.email);
    expect(digest).toContain(MATCH);
    expect(digest).toContain(`https://app.test/jobs/${job}`);
    expect(await subjectsTo(off)).toEqual([]);
  });

  it('uses the most urgent alert among a person’s searches', async () => {
    const by = await searcher('Marisol', 'off');
    const body = { name: 'All roofs', filter: { search: 'Marisol' }, alert: 'now' };
    await app.rest('POST', '/v1/saved-searches', { token: by.token, body });
    await publishFor('Marisol');
    expect(await subjectsTo(by)).toEqual([MATCH]);
  });

  it('isn’t emailed after unsubscribing, until a search asks for emails again', async () => {
    const by = await searcher('Ursula', 'now');
    await publishFor('Ursula');
    const [mail] = await mailsTo(by.email);
    expect((await fetch(unsubscribeLinkIn(mail), { method: 'POST' })).status).toBe(200);
    const own = await app.rest('GET', '/v1/saved-searches', { token: by.token });
    expect(own.body.data.map(({ alert }: Json) => alert)).toEqual(['off']);
    await publishFor('Ursula');
    expect(await subjectsTo(by)).toHaveLength(1);
    await app.rest('PUT', `/v1/saved-searches/${own.body.data[0].id}`, { token: by.token, body: { alert: 'now' } });
    await publishFor('Ursula');
    expect(await subjectsTo(by)).toHaveLength(2);
  });

  it('isn’t emailed if the contractor can no longer see the job', async () => {
    const by = await searcher('Henrietta', 'daily');
    const owner = await homeowner(app, 'Olga');
    const created = await callRest(app, 'create', { by: owner, body: { ...DRAFT, description: 'For Henrietta.' } });
    await callRest(app, 'publish', { by: owner, job: created.body.id });
    await settled();
    expect(await markedOf(by)).toBe(1);
    const body = { reason: 'Spam.' };
    await app.rest('POST', `/v1/users/${owner.userId}/suspend`, { token: people.admin.token, body });
    await sendDigests();
    expect(await subjectsTo(by)).toEqual([]);
  });

  it('has no setting except the search’s alert', async () => {
    const by = await searcher('Selma', 'now');
    const settings = await app.rest('GET', '/v1/me/notification-settings', { token: by.token });
    expect(settings.body.settings.map(({ type }: Json) => type)).not.toContain('job.published');
    const body = { settings: [{ type: 'job.published', channel: 'off' }] };
    const answer = await app.rest('PUT', '/v1/me/notification-settings', { token: by.token, body });
    expect(answer.body.details.fields).toEqual({
      'settings.0.type': 'is job.published, which is controlled by the alert of each saved search instead',
    });
  });
  it('isn’t in the digest if the contractor has turned off every alert', async () => {
    const by = await searcher('Dorothea', 'daily');
    await publishFor('Dorothea');
    await settled();
    expect(await markedOf(by)).toBe(1);
    const [search] = (await app.rest('GET', '/v1/saved-searches', { token: by.token })).body.data;
    await app.rest('PUT', `/v1/saved-searches/${search.id}`, { token: by.token, body: { alert: 'off' } });
    await sendDigests();
    expect(await subjectsTo(by)).toEqual([]);
  });
});

describe('a notification', () => {
  it('of a bid is one email to the job’s owner, with a link to the job and nothing that anyone wrote', async () => {
    const { owner, job } = await ownerWithJob('Olga');
    await bidOf(app, people.bidder, job, { message: 'I start on Monday.' });
    const mails = await mailsTo(owner.email);
    expect(mails.map(subjectOf)).toEqual(['You have a new bid']);
    const [{ headers = '', content = '', messageId = '' } = {}] = mails;
    expect(content).toContain('A contractor bid on your job.');
    expect(content.match(new RegExp(`https://app\\.test/jobs/${job.id}`, 'g'))).toHaveLength(3);
    expect(content).toContain('You’re getting this email because of your notification settings.');
    // No program escapes these characters.
    expect(content.match(/https:\/\/jobs\.test\/unsubscribe\/[\w.-]+(?=["\s])/g)).toHaveLength(2);
    expect(headers).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
    expect(headers).toMatch(/^Auto-Submitted: auto-generated\r?$/m);
    for (const text of ['Olga', 'Monday', DRAFT.title, DRAFT.address_line1])
      expect(headers + content).not.toContain(text);
    // Random IDs can contain these, but not as words.
    expect(headers + content).not.toMatch(/\bBen\b|\b700\b/);
    const [row] = await app.sql`select id, outcome from mails where user_id = ${owner.userId}
      and kind = 'notification'`;
    expect([messageId, row?.outcome]).toEqual([`<${row?.id}@example.test>`, 'sent']);
  });

  it('doesn’t use up the hourly limit of emails of the contractor whose bid caused it', async () => {
    const limits = { RATE_LIMITS: 'on', RATE_LIMIT_MAIL_PER_CALLER: '1' };
    const limited = await openTestApp({ ...settings(), ...limits }, { sameDatabaseAs: app });
    const { owner, job } = await ownerWithJob('Ottilie');
    const benno = await contractor(app, 'Benno');
    await confirm(benno);
    await bidOf(limited, benno, job);
    expect(await subjectsTo(owner)).toEqual(['You have a new bid']);
    const change = (email: string) =>
      limited.rest('POST', '/v1/me/email', { token: benno.token, body: { email, current_password: benno.password } });
    const answers = [await change('benno.first@example.test'), await change('benno.second@example.test')];
    expect(answers.map(({ status, body }) => [status, body.details?.limit])).toEqual([
      [200, undefined],
      [429, 'mailPerCaller'],
    ]);
    await limited.close();
  });

  it('of a daily type waits for the digest, which comes once, lists the titles, and clears the marks', async () => {
    const { owner, job } = await ownerWithJob('Odile');
    const bid = await bidOf(app, people.bidder, job);
    await must(app, 'withdraw', people.bidder, job, bid);
    const second = await bidOf(app, people.stranger, job);
    await must(app, 'withdraw', people.stranger, job, second);
    expect(await subjectsTo(owner)).toEqual(['You have a new bid', 'You have a new bid']);
    expect(await markedOf(owner)).toBe(2);
    await sendDigests();
    const [, , digest, ...more] = await mailsTo(owner.email);
    expect([digest && subjectOf(digest), more]).toEqual(['Your daily digest', []]);
    expect(digest?.content).toContain('A bid was withdrawn (2 times)');
    expect(digest?.content).toContain(`https://app.test/jobs/${job.id}`);
    expect(await markedOf(owner)).toBe(0);
    await sendDigests();
    expect(await subjectsTo(owner)).toHaveLength(3);
  });

  it('goes into the digest after 30 emails in a day', async () => {
    const { owner, job } = await ownerWithJob('Orla');
    await app.sql`insert into mails (id, kind, email, user_id, type, outcome, sent_at)
      select 'mal_' || lpad(n::text, 27, '0'), 'notification', ${owner.email}, ${owner.userId}, 'bid.submitted', 'sent',
        now() from generate_series(1, 29) n`;
    await bidOf(app, people.bidder, job);
    await bidOf(app, people.stranger, job);
    expect([await subjectsTo(owner), await markedOf(owner)]).toEqual([['You have a new bid'], 1]);
    await sendDigests();
    expect(await subjectsTo(owner)).toEqual(['You have a new bid', 'Your daily digest']);
    expect(await app.metric('notification_emails_total{decision="beyond_limit"}')).toBe(1);
    // The metrics don't wait long for the database.
    await until(async () => (await app.metric('notification_emails_events_behind')) === 0);
    await until(async () => (await app.metric('mail_oldest_due_seconds')) < 60);
  });

  it('that can’t be turned off is emailed at most hourly, and the next email covers everything since', async () => {
    const job = await givenJob(app, 'disputed', people);
    const PROPOSAL = 'You have a new proposal';
    const proposals = async () => (await mailsTo(people.owner.email)).filter((mail) => subjectOf(mail) === PROPOSAL);
    for (let time = 0; time < 3; time += 1) {
      await must(app, 'resolveDispute', people.awardee, job, undefined, { resolution: `Proposal ${time}` });
      expect(await proposals()).toHaveLength(1);
    }
    const rows = await app.sql`select outcome from mails where type = 'job.resolution_proposed'
      and user_id = ${people.owner.userId} order by from_position`;
    expect(rows.map(({ outcome }) => outcome)).toEqual(['sent', null]);
    const [task] = await app.sql`select run_at > now() + interval '50 minutes' as waits, attempts from tasks
      where kind = 'notice'`;
    expect(task).toEqual({ waits: true, attempts: 0 });
    await hurry();
    expect(await proposals()).toHaveLength(1);
    await app.sql`update mails set sent_at = sent_at - interval '1 hour' where user_id = ${people.owner.userId}`;
    await hurry();
    const [first, second] = await proposals();
    expect(first?.content).toContain('This email can’t be turned off.');
    expect(second?.content).toContain('This email is about more than one such event.');
    for (const mail of [first, second]) expect(mail?.headers).not.toContain('List-Unsubscribe');
    await app.sql`delete from mails where outcome is null`;
  });

  it('that can’t be turned off is extended only while it waits, and never after an attempt to send it', async () => {
    const job = await givenJob(app, 'disputed', people);
    await settled();
    server.refuse = { code: 451, text: 'greylisted' };
    for (let time = 0; time < 3; time += 1) {
      await must(app, 'resolveDispute', people.awardee, job, undefined, { resolution: `Proposal ${time}` });
      await settled();
      // The second attempt must not happen meanwhile.
      await app.sql`update tasks set run_at = now() + interval '1 hour' where kind = 'notice' and attempts = 1`;
    }
    const rows = await app.sql`select t.attempts, m.up_to_position > m.from_position as is_extended
      from mails m join tasks t on t.id = m.id where m.type = 'job.resolution_proposed' and m.job_id = ${job.id}
      order by m.from_position`;
    expect(rows).toEqual([
      { attempts: 1, is_extended: false },
      { attempts: 0, is_extended: true },
    ]);
    await app.sql`delete from tasks where kind = 'notice'`;
    await app.sql`delete from mails where outcome is null`;
  });

  it('about someone else’s award isn’t emailed, even if the bidder has a setting for awards', async () => {
    const job = await openJob(people.owner);
    const bid = await bidOf(app, people.awardee, job);
    await bidOf(app, people.bidder, job);
    await app.sql`insert into notification_settings values (${people.bidder.userId}, 'job.awarded', 'now')`;
    await award(app, people, job, bid);
    expect(await subjectsTo(people.bidder)).not.toContain('A job you bid on was awarded');
  });

  it('about an award doesn’t cover an earlier award of someone else’s bid', async () => {
    const winner = await contractor(app, 'Wanda');
    await confirm(winner);
    const job = await openJob(people.owner);
    const [earlier, later] = [await bidOf(app, people.awardee, job), await bidOf(app, winner, job)];
    // No emails are written while this lock is held.
    await app.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7203121)`;
      await award(app, people, job, earlier);
      await must(app, 'reopen', people.owner, job, undefined, { reason: 'Too expensive.' });
      await award(app, people, job, later);
      await allNumbered(app);
    });
    const awards = (await mailsTo(winner.email)).filter((mail) => subjectOf(mail) === 'You were awarded a job');
    expect(awards).toHaveLength(1);
    expect(awards[0]?.content).not.toContain('This email is about more than one such event.');
  });

  it('about an award reaches the contractor once, even if they already got 30 emails that day', async () => {
    const job = await openJob(people.owner);
    const bid = await bidOf(app, people.awardee, job);
    await app.sql`insert into mails (id, kind, email, user_id, type, outcome)
      select 'mal_' || lpad((100 + n)::text, 27, '0'), 'notification', ${people.awardee.email},
        ${people.awardee.userId}, 'bid.rejected', 'sent' from generate_series(1, 30) n`;
    await award(app, people, job, bid);
    const awards = (await subjectsTo(people.awardee)).filter((subject) => /award|accepted/.test(subject ?? ''));
    expect(awards.filter((subject) => subject === 'You were awarded a job')).toHaveLength(awards.length);
    const [mail] = (await mailsTo(people.awardee.email)).filter(({ content }) => content.includes(job.id));
    expect(mail && subjectOf(mail)).toBe('You were awarded a job');
  });
});

let events = 0;

/** Records that a webhook of each of these people was paused. */
async function pauseWebhooks(...who: readonly Pick<Person, 'userId'>[]): Promise<void> {
  for (const { userId } of who) await pauseWebhook(userId, 0);
  app.services.live.wake();
}

async function pauseWebhook(userId: string, hoursAgo: number): Promise<void> {
  events += 1;
  await app.sql`insert into account_events (id, user_id, type, occurred_at)
    values (${`aev_${String(events).padStart(27, '0')}`}, ${userId}, 'webhook.paused',
      now() - make_interval(hours => ${hoursAgo}))`;
}

const PAUSED = 'Your webhook was paused';

type Change = Readonly<Record<string, unknown>>;
const UNREACHABLE: [why: string, change: Change][] = [
  ['who hasn’t confirmed their address', { email_verified: false }],
  ['whose address rejects email', { email_undeliverable: true }],
  ['who is suspended', { suspended_at: new Date() }],
];

describe.each(UNREACHABLE)('a person %s', (_why, change) => {
  const makeUnreachable = ({ userId }: Person) => app.sql`update users set ${app.sql(change)} where id = ${userId}`;

  it('gets no email, now or in the digest', async () => {
    const [uma, ulf] = [await homeowner(app, 'Uma'), await homeowner(app, 'Ulf')];
    await settled();
    await confirm(uma, ulf);
    await app.sql`insert into notification_settings values (${ulf.userId}, 'webhook.paused', 'daily')`;
    await makeUnreachable(uma);
    await makeUnreachable(ulf);
    await pauseWebhooks(uma, ulf);
    expect([await subjectsTo(uma), await subjectsTo(ulf), await markedOf(ulf)]).toEqual([[], [], 0]);
  });

  it('doesn’t get an email that was already waiting', async () => {
    const [uma, ulf] = [await homeowner(app, 'Uma'), await homeowner(app, 'Ulf')];
    await settled();
    await confirm(uma, ulf);
    await app.sql`insert into notification_settings values (${ulf.userId}, 'webhook.paused', 'daily')`;
    server.refuse = { code: 451, text: 'greylisted' };
    await pauseWebhooks(uma, ulf);
    await settled();
    expect(await markedOf(ulf)).toBe(1);
    await makeUnreachable(uma);
    await makeUnreachable(ulf);
    server.refuse = undefined;
    await hurry();
    expect(await subjectsTo(uma)).toEqual([]);
    const [row] = await app.sql`select outcome from mails where user_id = ${uma.userId} and kind = 'notification'`;
    expect(row?.outcome).toBe('nobody');
    await sendDigests();
    expect([await subjectsTo(ulf), await markedOf(ulf)]).toEqual([[], 0]);
  });
});

it('an email doesn’t follow an account to another address, or stay at the old one', async () => {
  const mona = await homeowner(app, 'Mona');
  await settled();
  await confirm(mona);
  server.refuse = { code: 451, text: 'greylisted' };
  await pauseWebhooks(mona);
  await settled();
  await app.sql`update users set email = 'mona.new@example.test' where id = ${mona.userId}`;
  server.refuse = undefined;
  await hurry();
  expect([await subjectsTo(mona), await mailsTo('mona.new@example.test')]).toEqual([[], []]);
});

it('an event that is older than 25 hours isn’t emailed', async () => {
  const [olaf, orin] = [await homeowner(app, 'Olaf'), await homeowner(app, 'Orin')];
  await settled();
  await confirm(olaf, orin);
  await pauseWebhook(olaf.userId, 26);
  await pauseWebhook(orin.userId, 24);
  app.services.live.wake();
  expect([await subjectsTo(olaf), await subjectsTo(orin)]).toEqual([[], [PAUSED]]);
});

it('no email contains what a user wrote, whatever happens to their jobs', async () => {
  const own = await gather(app);
  await confirm(own.owner, own.awardee, own.bidder, own.stranger, own.admin);
  const ids = [own.owner, own.awardee, own.bidder].map(({ userId }) => userId);
  await app.sql`insert into notification_settings select u.id, t.type, 'now' from users u
    cross join (select distinct type from events) t where u.id in ${app.sql(ids)}`;
  const before = server.inbox.length;
  for (const state of JOB_STATES)
    await givenJob(app, state, own, { fields: { title: 'Planted title' }, say: (name) => `Planted ${name}` });
  await settled();
  const mails = server.inbox.slice(before);
  expect(new Set(mails.map(subjectOf)).size).toBeGreaterThan(12);
  for (const { headers, content } of mails)
    expect(headers + content).not.toMatch(/Planted|12 Oak Lane|lets the rain in|of Test|Olive|\b(Ava|Ben|Ada)\b/);
});

it('a digest leaves out notifications that were already read', async () => {
  const [{ owner, job }, other] = [await ownerWithJob('Ottilie'), await ownerWithJob('Odo')];
  for (const [of, by] of [
    [job, people.bidder],
    [other.job, people.stranger],
  ] as const)
    await must(app, 'withdraw', by, of, await bidOf(app, by, of));
  await settled();
  const { body } = await app.rest('GET', '/v1/notifications', { token: owner.token });
  await app.rest('POST', '/v1/notifications/read', { token: owner.token, body: { up_to: body.data[0].position } });
  await sendDigests();
  expect([await subjectsTo(owner), await markedOf(owner)]).toEqual([['You have a new bid'], 0]);
  expect(await subjectsTo(other.owner)).toEqual(['You have a new bid', 'Your daily digest']);
});

it('a digest has earlier notifications if the person has turned off the type of the newest hundred', async () => {
  const { owner, job } = await ownerWithJob('Orsola');
  const bid = await bidOf(app, people.bidder, job);
  expect((await callRest(app, 'revise', { by: people.bidder, job: job.id, bid, body: { amount: 650 } })).status).toBe(
    200,
  );
  await settled();
  await app.sql`insert into events (id, job_id, sequence, type, homeowner_id, bidder_id)
    select 'evt_orsola' || n, ${job.id}, 100 + n, 'bid.withdrawn', ${owner.profileId!}, ${people.stranger.profileId!}
    from generate_series(1, 100) n`;
  app.services.live.wake();
  await settled();
  await app.sql`insert into notification_settings values (${owner.userId}, 'bid.withdrawn', 'off')`;
  await sendDigests();
  const digest = (await mailsTo(owner.email)).at(-1);
  expect(digest && subjectOf(digest)).toBe('Your daily digest');
  expect(digest?.content).toContain('A bid was revised');
  expect(await markedOf(owner)).toBe(0);
});

it('a digest leaves out events that the contractor can no longer read', async () => {
  const { owner, job } = await ownerWithJob('Ophelia');
  const [cleo, cora] = [await contractor(app, 'Cleo'), await contractor(app, 'Cora')];
  await confirm(cleo, cora);
  const bid = await bidOf(app, cleo, job);
  await bidOf(app, cora, job);
  await must(app, 'update', owner, job, undefined, { title: 'Mend the whole roof' });
  await settled();
  expect([await markedOf(cleo), await markedOf(cora)]).toEqual([1, 1]);
  await must(app, 'withdraw', cleo, job, bid);
  await sendDigests();
  expect([await subjectsTo(cleo), await subjectsTo(cora)]).toEqual([[], ['Your daily digest']]);
});

it('a retry sends the same email, and emails about notifications have their own queue', async () => {
  const gala = await homeowner(app, 'Gala');
  await settled();
  await confirm(gala);
  server.refuse = { code: 451, text: 'greylisted' };
  await pauseWebhooks(gala);
  await settled();
  const [task] = await app.sql`select t.kind, t.key from tasks t join mails m on m.id = t.id
    where m.user_id = ${gala.userId}`;
  expect(task).toEqual({ kind: 'notice', key: 'example.test' });
  server.refuse = undefined;
  await hurry();
  const [mail] = await mailsTo(gala.email);
  const [row] = await app.sql`select id from mails where user_id = ${gala.userId} and kind = 'notification'`;
  expect(mail?.messageId).toBe(`<${row?.id}@example.test>`);
});

describe('unsubscribing', () => {
  const settingsOf = async ({ userId }: Person) =>
    (await app.sql`select type, channel from notification_settings where user_id = ${userId} order by type`).map(
      ({ type, channel }) => [type, channel],
    );
  const open = async (link: string, method = 'GET', body?: string) => {
    const headers = { accept: 'text/html', ...(body && { 'content-type': 'application/x-www-form-urlencoded' }) };
    const response = await fetch(link, { method, headers, ...(body && { body }) });
    return { status: response.status, page: await response.text(), headers: response.headers };
  };
  const oneClick = (link: string) => open(link, 'POST', 'List-Unsubscribe=One-Click');

  it('takes one POST without a session, and turns off only the email’s type', async () => {
    const { owner, job } = await ownerWithJob('Onyx');
    await bidOf(app, people.bidder, job);
    const link = unsubscribeLinkIn((await mailsTo(owner.email))[0]);
    for (const method of ['GET', 'HEAD']) expect((await open(link, method)).status).toBe(200);
    const { page, headers } = await open(link);
    expect(page).toContain('<li>You have a new bid</li>');
    expect(page).toContain('<form method="post"><button>Unsubscribe</button></form>');
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
    // Scanners open links, so opening one changes nothing.
    expect(await settingsOf(owner)).toEqual([]);

    for (let time = 0; time < 2; time += 1) {
      const done = await oneClick(link);
      expect([done.status, done.page.includes('You’re unsubscribed')]).toEqual([200, true]);
      expect(done.page).toContain('You can turn emails on and off in your notification settings');
      expect(await settingsOf(owner)).toEqual([['bid.submitted', 'off']]);
    }
    await bidOf(app, people.stranger, job);
    expect(await subjectsTo(owner)).toHaveLength(1);
    await pauseWebhooks(owner);
    expect(await subjectsTo(owner)).toEqual(['You have a new bid', PAUSED]);
    const body = { settings: [{ type: 'bid.submitted', channel: 'now' }] };
    await app.rest('PUT', '/v1/me/notification-settings', { token: owner.token, body });
    await bidOf(app, people.awardee, job);
    expect(await subjectsTo(owner)).toEqual(['You have a new bid', PAUSED, 'You have a new bid']);
  });

  it('turns off every type in a digest', async () => {
    const { owner, job } = await ownerWithJob('Oprah');
    const bid = await bidOf(app, people.bidder, job);
    await app.sql`insert into notification_settings values (${owner.userId}, 'webhook.paused', 'daily')`;
    await must(app, 'withdraw', people.bidder, job, bid);
    await pauseWebhooks(owner);
    await sendDigests();
    const digest = (await mailsTo(owner.email)).at(-1);
    expect(digest?.content).toMatch(/A bid was withdrawn[^]*Your webhook was paused/);
    await oneClick(unsubscribeLinkIn(digest));
    expect(await settingsOf(owner)).toEqual([
      ['bid.withdrawn', 'off'],
      ['webhook.paused', 'off'],
    ]);
  });

  it('returns a 404 page and changes nothing if the token is wrong or changed', async () => {
    const { owner, job } = await ownerWithJob('Otis');
    await bidOf(app, people.bidder, job);
    const link = unsubscribeLinkIn((await mailsTo(owner.email))[0]);
    const before = await app.sql`select * from notification_settings order by user_id, type`;
    const wrong = [
      link.slice(0, -1),
      `${link}x`,
      link.replace(owner.userId, people.owner.userId),
      link.replace('bid.submitted', 'bid.revised'),
      link.replace('bid.submitted', 'bid.submitted~bid.revised'),
      `${app.url}/unsubscribe/`,
      `${app.url}/unsubscribe/nonsense`,
      `${app.url}/unsubscribe/..%2f${'x'.repeat(5_000)}`,
    ];
    for (const one of wrong)
      for (const { status, page } of [await open(one), await oneClick(one)])
        expect([one, status, page.includes('<h1>Unknown link</h1>')]).toEqual([one, 404, true]);
    expect(await app.sql`select * from notification_settings order by user_id, type`).toEqual(before);
    const { status, headers } = await open(link, 'DELETE');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });

  it('leaves no token in the log', async () => {
    const { owner, job } = await ownerWithJob('Opal');
    await bidOf(app, people.bidder, job);
    const link = unsubscribeLinkIn((await mailsTo(owner.email))[0]);
    await oneClick(link);
    await open(`${link}x`);
    const logged = () => app.logged.filter((line) => line.includes('/unsubscribe/{token}'));
    await until(() => logged().some((line) => line.includes('POST')) && logged().some((line) => line.includes('404')));
    expect(app.logged.join('\n')).not.toContain('bid.submitted~');
    expect(app.logged.join('\n')).not.toContain(link.slice(link.lastIndexOf('.')));
  });

  it('works while JWT_SECRET is being replaced, and not after that', async () => {
    const { owner, job } = await ownerWithJob('Oscar');
    await bidOf(app, people.bidder, job);
    const link = unsubscribeLinkIn((await mailsTo(owner.email))[0]);
    const JWT_PREVIOUS_SECRET = JWT_SECRET;
    const next = await openTestApp(
      { JWT_SECRET: 'the next secret, which has 32 bytes', JWT_PREVIOUS_SECRET },
      { sameDatabaseAs: app },
    );
    expect((await open(link.replace(app.url, next.url))).status).toBe(200);
    await next.close();
    const later = await openTestApp({ JWT_SECRET: 'the next secret, which has 32 bytes' }, { sameDatabaseAs: app });
    expect((await open(link.replace(app.url, later.url))).status).toBe(404);
    await later.close();
  });
});

it('two servers that check at the same time email a notification only once', async () => {
  // Behind a proxy, a server without SMTP_URL leaves emails to others.
  const idle = await openTestApp({ TRUST_PROXY_HOPS: '1' });
  await idle.sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code,
      email_verified)
    values (${`usr_${'0'.repeat(27)}`}, 'nora@example.test', 'homeowner', 'A', 'B', '-', 'R', true)`;
  await idle.sql`insert into account_events (id, user_id, type, occurred_at)
    values (${`aev_${'0'.repeat(27)}`}, ${`usr_${'0'.repeat(27)}`}, 'webhook.paused', now())`;
  idle.services.live.wake();
  await until(
    async () => (await idle.sql`select from notification_cursor where stored_up_to > mailed_up_to`).length > 0,
  );
  // The first server to ask for the lock gets it a second later, after the other one is done.
  await idle.sql`create sequence asked`;
  await idle.sql`create function pg_try_advisory_xact_lock(int) returns boolean language plpgsql as $$ begin
    if nextval('asked') = 1 then perform pg_sleep(1); end if;
    return pg_catalog.pg_try_advisory_xact_lock($1::bigint);
  end $$`;
  const email = () => emailNotifications(idle.services.db, { recordNotification: () => {} }, 'events');
  expect((await Promise.all([email(), email()])).toSorted()).toEqual([false, true]);
  expect(await idle.sql`select from mails where kind = 'notification'`).toHaveLength(1);
  await idle.close();
});

it('200 people each get one email, while one of two instances stops', async () => {
  await settled();
  const crowd = Array.from({ length: 200 }, (_, n) => ({ userId: `usr_${String(n).padStart(27, '0')}` }));
  await app.sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code,
      email_verified)
    select 'usr_' || lpad(n::text, 27, '0'), 'person.' || n || '@' || n % 7 || '.example.test', 'homeowner', 'A', 'B',
      '-', 'R' || n, true from generate_series(0, 199) n`;
  const twin = await openTestApp(
    { SMTP_URL: server.url, MAIL_FROM: 'market@example.test', PUBLIC_URL: 'https://jobs.test' },
    { sameDatabaseAs: app },
  );
  const already = server.inbox.length;
  await pauseWebhooks(...crowd);
  await until(() => server.inbox.length > already + 50);
  await twin.close();
  await settled();
  await until(async () => (await app.sql`select from mails where outcome is null`).length === 0);
  const arrived = server.inbox.slice(already);
  expect(new Set(arrived.flatMap(({ to }) => to)).size).toBe(200);
  expect(new Set(arrived.map(({ messageId }) => messageId)).size).toBe(200);
});

it('the digest follows the adjustable clock and its hour, and is shown in the mailbox', async () => {
  const timed = await openTimedApp({ DIGEST_HOUR_UTC: '12' });
  const { owner, bidder, stranger } = timed.people;
  await timed.sql`update users set email_verified = true where id = ${owner.userId}`;
  const now = await timed.hours(0);
  const hourOfNextDay = (hour: number) =>
    (Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1, hour) - now.getTime()) / 3_600_000;
  const created = await callRest(timed, 'create', { by: owner, body: DRAFT });
  const job: GivenJob = { id: created.body.id, state: 'draft', bids: { awardee: null, bidder: null } };
  await must(timed, 'publish', owner, job);
  await must(timed, 'withdraw', bidder, job, await bidOf(timed, bidder, job));
  const digestedOn = async () => (await timed.sql`select digested_on::text as day from notification_cursor`)[0]?.day;
  const marked = () => timed.sql`select from notifications where is_emailed_later`;
  // Today's digest has been sent, or its hour hasn't come yet.
  await timed.sql`update notification_cursor set digested_on = ${now.toISOString().slice(0, 10)}::date`;
  await until(async () => (await marked()).length === 1);
  const today = await digestedOn();
  await timed.hours(hourOfNextDay(11));
  // The step that handles this bid's notification also checks if the digest is due.
  await bidOf(timed, stranger, job);
  await until(async () => {
    const [row] = await timed.sql`select mailed_up_to = (select max(position) from events) as done
      from notification_cursor where not exists (select from events where position is null)`;
    return row?.done === true;
  });
  expect([await digestedOn(), (await marked()).length]).toEqual([today, 1]);
  await timed.hours(1.5);
  const digest = await mailTo(timed, owner.email, 'Your daily digest');
  expect(digest.to).toBe(owner.email);
  expect(await digestedOn()).not.toBe(today);
  expect(await marked()).toHaveLength(0);
  await timed.close();
});
