/** The actions that people take on purchases in the tests. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { lookAtPurchases } from '../../../../src/market/operations/purchases/lookups.js';
import type { Answer, Json, TestApp } from '../../../setup/app.js';
import { checkDatabase } from '../../../setup/database/checker.js';
import { callRest } from '../../../story/calls.js';
import type { Person } from '../../../story/cast.js';
import { DRAFT } from '../../../story/journey.js';

type RestCaller = Pick<TestApp, 'rest'>;

export const RETURN_URL = 'http://localhost:5173/tokens';
export const OWN_APP = { CORS_ORIGINS: 'http://localhost:5173' };

export function buy(app: RestCaller, { token }: Person, pack = 'small', headers: Record<string, string> = {}) {
  return app.rest('POST', '/v1/purchases', { token, body: { pack, return_url: RETURN_URL }, headers });
}

/** Buys with a new key, and returns the purchase's ID. */
export async function bought(app: RestCaller, person: Person, pack = 'small'): Promise<string> {
  const answer = await buy(app, person, pack, { 'idempotency-key': randomUUID() });
  expect([answer.status, answer.body.purchase?.status]).toEqual([201, 'pending']);
  return answer.body.purchase.id;
}

export async function balanceOf(app: RestCaller, { token }: Person): Promise<Json> {
  return (await app.rest('GET', '/v1/tokens', { token })).body;
}

export async function purchase(app: RestCaller, { token }: Person, id: string): Promise<Json> {
  return (await app.rest('GET', `/v1/purchases/${id}`, { token })).body;
}

export async function draft(app: RestCaller, { token }: Person, urgency: string): Promise<string> {
  const { body } = await app.rest('POST', '/v1/jobs', { token, body: { ...DRAFT, urgency } });
  return body.id;
}

export async function publish(app: RestCaller, by: Person, urgency: string): Promise<string> {
  const job = await draft(app, by, urgency);
  expect((await callRest(app, 'publish', { by, job })).status).toBe(200);
  return job;
}

export function refund(app: RestCaller, { token }: Person, id: string, tokens?: number): Promise<Answer<Json>> {
  const body = { reason: 'The job was posted twice.', ...(tokens !== undefined && { tokens }) };
  return app.rest('POST', `/v1/purchases/${id}/refund`, { token, body });
}

/** Runs the lookups that would run after fifteen minutes. Only this function runs lookups in tests. */
export async function runLookups(app: TestApp): Promise<void> {
  await app.sql`update purchases set look_at = now() - interval '1 ms' where look_at is not null`;
  const db = app.services.db.of({ address: 'lookups' });
  while (await lookAtPurchases(app.services, db, new AbortController().signal));
}

/** Expects that everything adds up, according to the audit and the checker. The two share no code. */
export async function expectSound(app: Pick<TestApp, 'rest' | 'sql'>, { token }: Person): Promise<void> {
  expect((await app.rest('GET', '/v1/tokens/audit', { token })).body).toMatchObject({ ok: true, mismatches: [] });
  expect(await checkDatabase(app.sql)).toEqual([]);
}
