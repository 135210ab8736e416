import { afterAll, beforeAll, expect, test } from 'vitest';
import { admin, contractor, homeowner } from '../cast.js';
import { openTestHouse, type TestHouse } from '../house.js';

let house: TestHouse;
beforeAll(async () => {
  house = await openTestHouse();
});
afterAll(async () => { for (const l of house.logged) if (l.includes('"level":50')) console.log(l); await house.close(); });

test('a job lives from draft to completed', async () => {
  const hanna = await homeowner(house, 'Hanna');
  const carl = await contractor(house, 'Carl');
  const cora = await contractor(house, 'Cora');
  const created = await house.rest('POST', '/v1/jobs', { token: hanna.token, body: { title: 'Fix sink', description: 'It drips', trade: 'plumbing', urgency: 'standard', address_line1: '1 Main', city: 'Austin', state: 'TX', zip_code: '78701' } });
  expect(created.body).toMatchObject({ status: 'draft', category: 'plumbing', version: 1 });
  expect(created.status).toBe(201);
  const id = created.body.id;
  const edited = await house.rest('PUT', `/v1/jobs/${id}`, { token: hanna.token, body: { ...created.body, budget_min: 100.5 } });
  expect(edited.body).toMatchObject({ version: 2, budget_min: 100.5 });
  const published = await house.rest('POST', `/v1/jobs/${id}/publish`, { token: hanna.token });
  expect(published.body).toMatchObject({ tokens_charged: 5, remaining_balance: 5, job: { status: 'open' } });
  const bid = await house.rest('POST', `/v1/jobs/${id}/bids`, { token: carl.token, body: { amount: 99.99, guaranteed_view: true } });
  expect(bid.body).toMatchObject({ status: 'pending', amount: 99.99 });
  const other = await house.graphql('mutation($id: ID!) { submitBid(jobId: $id, input: { amount: 5, guaranteedView: true }) { id job { id bidCount addressLine1 } hold { amount status } } }', { token: cora.token, variables: { id } });
  expect(other.errors).toBeUndefined();
  expect(other.data.submitBid).toMatchObject({ job: { bidCount: 2, addressLine1: null }, hold: { amount: 5, status: 'ACTIVE' } });
  house.statements();
  const read = await house.graphql(`{ jobs(filter: { near: { zipCode: "78704", withinMiles: 20 }, search: "sink" }) { totalCount nodes { id homeowner { id addressLine1 user { email firstName } } bids { totalCount nodes { id amount contractor { id licenseNumber user { email } } } } myBid { id } availableActions { action allowed reason } timeline { totalCount nodes { type data } } dispute { reason } } } }`, { token: carl.token });
  expect(read.errors).toBeUndefined();
  console.log(JSON.stringify(read.data, null, 1), house.statements().length);
  const awarded = await house.rest('POST', `/v1/jobs/${id}/award`, { token: hanna.token, body: { bid_id: bid.body.id } });
  expect(awarded.body).toMatchObject({ status: 'awarded', awarded_bid_id: bid.body.id });
  for (const [who, path, body] of [[carl, 'checkin', { notes: 'here' }], [carl, 'submit-for-review', undefined], [hanna, 'dispute', { reason: 'bad' }], [hanna, 'resolve-dispute', { resolution: 'half  price' }], [carl, 'resolve-dispute', { resolution: 'half price' }]] as const) {
    const moved = await house.rest('POST', `/v1/jobs/${id}/${path}`, { token: who.token, ...(body && { body }) });
    expect(moved.status, `${path} ${JSON.stringify(moved.body)}`).toBe(200);
    console.log(path, moved.body.status, moved.body.version);
  }
  console.log(JSON.stringify((await house.rest('GET', `/v1/jobs/${id}/dispute`, { token: carl.token })).body));
  console.log(JSON.stringify((await house.rest('GET', `/v1/jobs/${id}/events`, { token: hanna.token })).body.data.map((e: any) => [e.sequence, e.type, e.data])));
  const ada = await admin(house);
  const audit = await house.graphql('{ auditTokens { ok mismatches { userId kept summed keptHeld summedHeld } } }', { token: ada.token });
  expect(audit.data.auditTokens).toEqual({ ok: true, mismatches: [] });
});
