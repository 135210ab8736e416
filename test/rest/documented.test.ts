/**
 * Visits every REST path, so that each documented response occurs at least once. The test app checks each one against
 * the OpenAPI document.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/rest/routes.js';
import { admin, contractor, homeowner, type Person } from '../story/cast.js';
import { seen } from '../story/documented.js';
import { laterDeadline } from '../story/journey.js';
import { mailTo } from '../market/mail/mailbox.js';
import { allNumbered } from '../platform/live/positions.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';

let app: TestApp;
let hanna: Person;
let carl: Person;
let ada: Person;
beforeAll(async () => {
  // Earlier files of this process may have filled it.
  seen.clear();
  app = await openTestApp({ CLOCK: 'adjustable', PAYMENTS: 'local' });
  [hanna, carl, ada] = [await homeowner(app, 'Hanna'), await contractor(app, 'Carl'), await admin(app)];
  await ok(ada, 'POST', '/tokens/adjustments', { user_id: hanna.userId, amount: 500, reason: 'A long day.' });
});
afterAll(() => app.close());

const DRAFT = {
  title: 'Repair the sink',
  description: 'It drips.',
  trade: 'plumbing',
  priority: 'standard',
  address_line1: '1 Main Street',
  city: 'Austin',
  state: 'TX',
  zip_code: '78701',
  budget_min: 10.25,
  budget_max: 99.5,
  desired_start_date: '2026-03-09',
  desired_completion_date: '2026-03-20',
};

describe('Every URL responds as documented', () => {
  it('for people and their tokens', async () => {
    const { token } = hanna;
    const me = await ok(hanna, 'GET', '/me');
    await ok(hanna, 'PUT', '/me', { ...me, homeowner: { ...me.homeowner, city: 'Austin' } });
    await ok(carl, 'PUT', '/me', {
      contractor: { service_areas: ['Austin'], years_in_business: 3, website: 'https://carl.example.test' },
    });
    await ok(ada, 'GET', '/me');
    await ok(carl, 'GET', `/contractors/${carl.profileId}`);
    await ok(hanna, 'GET', `/contractors/${carl.profileId}`);
    await ok(ada, 'POST', `/contractors/${carl.profileId}/verify`);
    await ok(ada, 'POST', `/contractors/${carl.profileId}/unverify`, { reason: 'By mistake.' });
    await ok(ada, 'POST', `/contractors/${carl.profileId}/verify`);
    await ok(hanna, 'GET', '/contractors?verified=true&order_by=best_rated');
    await ok(ada, 'GET', '/users?user_type=contractor');
    const { data: acts } = await ok(ada, 'GET', `/admin-actions?user_id=${carl.userId}&action=verifyContractor`);
    await ok(ada, 'GET', `/admin-actions/${acts[0].id}`);
    const { userId } = await contractor(app, 'Sam');
    await ok(ada, 'POST', `/users/${userId}/suspend`, { reason: 'Asks for money.', until: '2999-01-01T00:00:00Z' });
    await ok(ada, 'POST', `/users/${userId}/restore`, { reason: 'By mistake.' });
    await ok(ada, 'POST', `/users/${userId}/end-sessions`, { reason: 'A stolen phone.' });
    await ok(ada, 'POST', `/users/${userId}/email/verification`);
    await ok(ada, 'GET', '/tokens/transfers?external_reference=none');
    await ok(ada, 'GET', '/tokens/audit');
    await ok(hanna, 'GET', '/tokens');
    await ok(hanna, 'GET', '/tokens/transactions?per_page=1');
    const { purchase, checkout_url } = await ok(hanna, 'POST', '/purchases', { pack: 'small', return_url: app.url });
    await fetch(checkout_url, { method: 'POST', body: new URLSearchParams({ choice: 'pay' }) });
    await ok(hanna, 'GET', '/purchases');
    await ok(hanna, 'GET', `/purchases/${purchase.id}`);
    await ok(ada, 'POST', `/purchases/${purchase.id}/refund`, { tokens: 20, reason: 'A job was posted twice.' });
    const { api_key } = await ok(hanna, 'POST', '/api-keys', { name: 'Export', expires_at: '2999-01-01T00:00:00Z' });
    await ok(hanna, 'GET', '/api-keys');
    await ok(hanna, 'GET', `/api-keys/${api_key.id}`);
    await ok(hanna, 'DELETE', `/api-keys/${api_key.id}`);
    const password = 'another good one';
    await ok(hanna, 'POST', '/me/password', { current_password: hanna.password, new_password: password });
    const session = await ok(undefined, 'POST', '/auth/login', { email: hanna.email, password });
    const refreshed = await ok(undefined, 'POST', '/auth/refresh', { refresh_token: session.refresh_token });
    const again = await ok(undefined, 'POST', '/auth/login', { email: hanna.email, password });
    const { data: sessions } = await ok({ token: again.token }, 'GET', '/sessions');
    await ok({ token: again.token }, 'GET', `/sessions/${sessions[1].id}`);
    await ok({ token: refreshed.token }, 'POST', '/auth/logout');
    const { data: left } = await ok({ token: again.token }, 'GET', '/sessions');
    await ok({ token }, 'DELETE', `/sessions/${left[0].id}`);
    await ok({ token }, 'DELETE', '/sessions');
    expect((await app.rest('GET', '/v1/me', { token })).status).toBe(200);
  });

  it('for an account that is recovered', async () => {
    const heidi = await homeowner(app, 'Heidi');
    const email = `new.${heidi.email}`;
    const follow = async (path: string, to: string, subject: string, more = {}) =>
      ok(undefined, 'POST', path, { token: (await mailTo(app, to, subject)).token, ...more });
    await ok(heidi, 'POST', '/me/email/verification');
    const { token } = await mailTo(app, heidi.email, 'Confirm your email address', 2);
    await ok(undefined, 'POST', '/auth/verify-email', { token });
    await ok(heidi, 'POST', '/me/email', { email, current_password: heidi.password });
    await follow('/auth/verify-email', email, 'Confirm your new email address');
    await follow('/auth/undo-email-change', heidi.email, 'Your account’s email address was changed');
    await follow('/auth/password-reset/confirm', heidi.email, 'Set a new password', { new_password: 'a new one' });
    await ok(undefined, 'POST', '/auth/password-reset', { email });
    await ok(ada, 'POST', `/users/${heidi.userId}/password-reset`);
    await app.sql`update users set email_undo = 'pending', email_undo_address = 'heidi.before@example.test'
      where id = ${heidi.userId}`;
    await ok(ada, 'POST', `/users/${heidi.userId}/email-undo`, { keep: 'current', reason: 'Knows the first job.' });
  });

  it('for notifications and their settings', async () => {
    const { id } = await openJobWithBid(carl);
    await allNumbered(app);
    const { data } = await ok(hanna, 'GET', '/notifications?unread=true&per_page=1');
    expect(data[0]).toMatchObject({ type: 'bid.submitted', job_id: id });
    await ok(hanna, 'POST', '/notifications/read', { up_to: data[0].position });
    const { settings } = await ok(hanna, 'GET', '/me/notification-settings');
    await ok(hanna, 'PUT', '/me/notification-settings', { settings });
  });

  it('for saved searches', async () => {
    const filter = { search: 'heater', budget_max: 900, near: { city: 'Austin', state: 'TX', within_miles: 25 } };
    const { id } = await ok(carl, 'POST', '/saved-searches', { name: 'Heaters', filter, alert: 'daily' });
    await ok(carl, 'GET', '/saved-searches');
    const search = await ok(carl, 'GET', `/saved-searches/${id}`);
    expect(search.filter).toMatchObject({ search: 'heater', budget_max: 900, categories: [] });
    await ok(carl, 'PUT', `/saved-searches/${id}`, { ...search, alert: 'off' });
    await ok(carl, 'DELETE', `/saved-searches/${id}`);
  });

  it('for a job that ends well', async () => {
    const cora = await contractor(app, 'Cora');
    const { id, bid } = await openJobWithBid(carl, {
      guaranteed_view: true,
      message: 'I can.',
      proposed_start_date: '2026-03-10',
      materials_included: true,
    });
    const other = await ok(cora, 'POST', `/jobs/${id}/bids`, { amount: 50 });
    await ok(cora, 'POST', `/jobs/${id}/bids/${other.id}/withdraw`);
    const again = await ok(cora, 'POST', `/jobs/${id}/bids`, { amount: 45 });
    for (const step of ['view', 'shortlist', 'reject']) await ok(hanna, 'POST', `/jobs/${id}/bids/${again.id}/${step}`);
    await ok(hanna, 'GET', `/jobs/${id}/bids?per_page=1`);
    await ok(cora, 'GET', `/jobs/${id}/bids?status=rejected`);
    await ok(undefined, 'GET', '/catalog');
    await ok(undefined, 'GET', '/lifecycle');
    const [transfer] = (await ok(hanna, 'GET', '/tokens/transactions')).data;
    await ok(hanna, 'GET', `/tokens/transactions/${transfer.id}`);
    await ok(carl, 'GET', '/bids');
    await ok(carl, 'GET', `/bids/${bid.id}`);
    await ok(hanna, 'GET', `/bids/${bid.id}/hold`);
    for (const person of [hanna, carl, ada]) await ok(person, 'GET', `/bids/${bid.id}/actions`);
    for (const person of [hanna, carl, cora, ada]) await ok(person, 'GET', `/jobs/${id}/actions`);
    for (const person of [hanna, carl, ada]) await ok(person, 'GET', '/me/job-counts');
    for (const person of [hanna, carl, cora, ada]) await ok(person, 'GET', `/jobs/${id}`);
    await ok(hanna, 'GET', '/jobs?search=sink&status=open&urgency=standard&category=plumbing');
    await ok(ada, 'GET', `/tokens?user_id=${hanna.userId}`);
    await ok(ada, 'GET', `/tokens/transactions?user_id=${hanna.userId}&per_page=1`);
    await ok(ada, 'GET', `/jobs?homeowner_id=${hanna.profileId}&page=1&per_page=1`);
    await ok(hanna, 'POST', `/jobs/${id}/award`, { bid_id: bid.id });
    await ok(carl, 'POST', `/jobs/${id}/checkin`, { notes: 'Here.' });
    await ok(carl, 'POST', `/jobs/${id}/submit-for-review`);
    await ok(hanna, 'POST', `/jobs/${id}/approve`, { rating: 5, review: 'Tidy.' });
    for (const person of [carl, ada]) await ok(person, 'GET', `/jobs?contractor_id=${carl.profileId}`);
    for (const person of [hanna, carl, cora, ada]) await ok(person, 'GET', `/jobs/${id}/events`);
    for (const person of [hanna, carl, cora, ada]) await ok(person, 'GET', '/events?after=0&per_page=5');
    await ok(hanna, 'GET', `/contractors/${carl.profileId}`);
    for (const person of [hanna, carl, cora, ada]) await ok(person, 'GET', `/users/${carl.userId}`);
    for (const person of [hanna, carl, cora, ada]) await ok(person, 'GET', `/homeowners/${hanna.profileId}`);
    await ok(cora, 'GET', `/contractors/${carl.profileId}/reviews`);
    for (const list of ['jobs', 'bids'])
      for (const person of [carl, ada]) await ok(person, 'GET', `/contractors/${carl.profileId}/${list}`);
  });

  it('for revised bids, awards that fall through, and requested changes', async () => {
    const { id, bid } = await openJobWithBid(carl, { guaranteed_view: true });
    const cora = await contractor(app, 'Cora');
    const other = await ok(cora, 'POST', `/jobs/${id}/bids`, { amount: 95 });
    await ok(carl, 'PUT', `/jobs/${id}/bids/${bid.id}`, { ...bid, amount: 79, message: 'Even less.' });
    for (const person of [hanna, carl, ada]) await ok(person, 'GET', `/bids/${bid.id}/revisions`);
    await ok(hanna, 'POST', `/jobs/${id}/award`, { bid_id: bid.id, expected_bid_version: 2 });
    await ok(carl, 'POST', `/jobs/${id}/decline-award`, { reason: 'My van broke down.' });
    await ok(hanna, 'POST', `/jobs/${id}/award`, { bid_id: other.id });
    await ok(hanna, 'POST', `/jobs/${id}/reopen`, { reason: 'Too late.' });
    const again = await ok(carl, 'POST', `/jobs/${id}/bids`, { amount: 79 });
    await ok(hanna, 'POST', `/jobs/${id}/award`, { bid_id: again.id });
    await ok(carl, 'POST', `/jobs/${id}/checkin`);
    await ok(carl, 'POST', `/jobs/${id}/submit-for-review`);
    await ok(hanna, 'POST', `/jobs/${id}/request-changes`, { reason: 'Almost done.', items: ['Seal the joint.'] });
    await ok(hanna, 'POST', `/jobs/${id}/dispute`, { reason: 'Nothing happens.' });
    for (const person of [hanna, carl, cora, ada]) await ok(person, 'GET', `/jobs/${id}/events?per_page=50`);
    for (const person of [hanna, carl, ada]) await ok(person, 'GET', `/bids/${bid.id}`);
  });

  it('for webhooks and their deliveries', async () => {
    const url = 'https://hooks.example.com/jobs';
    const { webhook } = await ok(hanna, 'POST', '/webhooks', { url, event_types: ['job.published'] });
    await ok(hanna, 'GET', '/webhooks');
    await ok(hanna, 'GET', `/webhooks/${webhook.id}`);
    await ok(hanna, 'POST', `/webhooks/${webhook.id}/rotate-secret`);
    const delivery = await ok(hanna, 'POST', `/webhooks/${webhook.id}/test`);
    await ok(hanna, 'GET', `/webhooks/${webhook.id}/deliveries`);
    await ok(hanna, 'POST', `/webhooks/deliveries/${delivery.id}/redeliver`);
    await ok(hanna, 'POST', `/webhooks/${webhook.id}/replay`, { after: '0' });
    await ok(hanna, 'PUT', `/webhooks/${webhook.id}`, { status: 'paused' });
    await ok(hanna, 'DELETE', `/webhooks/${webhook.id}`);
  });

  it('for drafts, and for jobs that are canceled or ended outside the flow', async () => {
    const draft = await ok(hanna, 'POST', '/jobs', { title: 'A', description: 'B' });
    await ok(hanna, 'PUT', `/jobs/${draft.id}`, { ...draft, title: 'C', budget_max: 20 });
    await ok(hanna, 'DELETE', `/jobs/${draft.id}`);
    await ok(hanna, 'POST', `/jobs/${(await openJobWithBid(carl)).id}/cancel`, { reason: 'Sold the house.' });
    await ok(ada, 'POST', `/jobs/${(await openJobWithBid(carl)).id}/complete`, { reason: 'They asked.' });
    const odd = { title: 'A', description: 'B', category: 'plumming', city: 'Austinn', state: 'TX', zip_code: '1' };
    const { warnings } = await ok(hanna, 'POST', '/jobs', { ...odd, desired_start_date: '2001-01-01' });
    expect(warnings).toHaveLength(4);
  });

  it('for disputes, whether they are settled, decided, or appealed', async () => {
    const settled = await disputedJob();
    await ok(hanna, 'GET', `/jobs/${settled}/dispute`);
    for (const person of [hanna, carl]) {
      await ok(person, 'POST', `/jobs/${settled}/resolve-dispute`, { resolution: 'Half the price.', agreed_by: 'Us' });
      await ok(person, 'GET', `/jobs/${settled}/dispute`);
    }
    const accepted = await disputedJob();
    await ok(carl, 'POST', `/jobs/${accepted}/resolve-dispute`, { resolution: 'Half the price.' });
    const { proposal } = await ok(hanna, 'GET', `/jobs/${accepted}/dispute`);
    await ok(hanna, 'POST', `/jobs/${accepted}/accept-resolution`, { proposal_id: proposal.id });
    const decided = await disputedJob();
    await ok(carl, 'POST', `/jobs/${decided}/escalate`, { escalation_reason: 'No way.' });
    await ok(ada, 'POST', `/jobs/${decided}/reach-decision`, { decision: 'Redo it.', ruling: 'It drips.' });
    await ok(carl, 'POST', `/jobs/${decided}/accept-decision`);
    for (const job of [accepted, decided]) await ok(hanna, 'GET', `/jobs/${job}/dispute`);
    const { id: approved, bid } = await openJobWithBid(carl);
    await ok(hanna, 'POST', `/jobs/${approved}/award`, { bid_id: bid.id });
    await ok(carl, 'POST', `/jobs/${approved}/checkin`);
    await ok(carl, 'POST', `/jobs/${approved}/submit-for-review`);
    await ok(carl, 'GET', `/jobs/${approved}/upcoming`);
    await ok(hanna, 'POST', `/jobs/${approved}/extend-deadline`, { until: laterDeadline({ state: 'in_review' }) });
    await ok(ada, 'POST', '/test-clock', { seconds: 60 });
    await ok(hanna, 'POST', `/jobs/${approved}/approve`);
    await ok(hanna, 'POST', `/jobs/${approved}/review`, { rating: 4 });
    await ok(carl, 'GET', `/jobs/${approved}/events`);
    const appealed = await disputedJob();
    await ok(carl, 'POST', `/jobs/${appealed}/escalate`, { escalation_reason: 'No way.' });
    await ok(ada, 'POST', `/jobs/${appealed}/reach-decision`, {
      decision: 'Redo it.',
      ruling: 'It drips.',
      resolution_terms: 'In a week.',
    });
    await ok(carl, 'POST', `/jobs/${appealed}/file-appeal`, { appeal_reason: 'It does not.' });
    await ok(ada, 'POST', `/jobs/${appealed}/finalize-appeal`, { final_decision: 'It does.', ruling: 'I saw it.' });
    await ok(carl, 'GET', `/jobs/${appealed}/dispute`);
    await ok(ada, 'GET', `/jobs/${appealed}/events?per_page=2`);
  });

  it('and none is missing', () => {
    const all = ROUTES.map(({ operation, status }) => `${operation.name} ${status}`);
    expect(
      all.filter((answer) => !seen.has(answer)),
      'Call these in one of the stories above.',
    ).toEqual([]);
  });
});

async function ok(
  person: Pick<Person, 'token'> | undefined,
  method: string,
  path: string,
  body?: object,
): Promise<Json> {
  const answer = await app.rest(method, `/v1${path}`, { token: person?.token, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function openJobWithBid(bidder: Person, more: object = {}): Promise<{ id: string; bid: Json }> {
  const { id } = await ok(hanna, 'POST', '/jobs', DRAFT);
  await ok(hanna, 'POST', `/jobs/${id}/publish`);
  return { id, bid: await ok(bidder, 'POST', `/jobs/${id}/bids`, { amount: 80.5, ...more }) };
}

async function disputedJob(): Promise<string> {
  const { id, bid } = await openJobWithBid(carl);
  await ok(hanna, 'POST', `/jobs/${id}/award`, { bid_id: bid.id });
  await ok(carl, 'POST', `/jobs/${id}/checkin`);
  await ok(carl, 'POST', `/jobs/${id}/submit-for-review`);
  await ok(hanna, 'POST', `/jobs/${id}/dispute`, { reason: 'It drips still.' });
  return id;
}
