/** People calling a server that runs in another process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../platform/security/until.js';

type Json = Record<string, unknown>;

export interface Account {
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

export async function signUp(url: string, email: string): Promise<Account> {
  const password = 'a password for this test';
  const { status, body } = await post(url, '/v1/auth/signup/homeowner', {
    email,
    password,
    first_name: 'Hanna',
    last_name: 'of Test',
  });
  if (status !== 201) throw new Error(`${email} could not join: ${status} ${JSON.stringify(body)}`);
  return { email, password, token: String(body.token) };
}

export function logIn(url: string, email: string, password: string): Promise<{ status: number; body: Json }> {
  return post(url, '/v1/auth/login', { email, password });
}

/** The URL of a database that may take long to accept a connection, because the machine is busy. */
export const patientUrl = (databaseUrl: string) => `${databaseUrl}?connect_timeout=100`;

export async function readiness(url: string): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}

/** On a busy machine, a check can take longer than it may. */
export const untilReady = (url: string) => until(async () => (await readiness(url)) === 200);

async function post(url: string, path: string, body: object): Promise<{ status: number; body: Json }> {
  const headers = { 'content-type': 'application/json' };
  const response = await patiently(() => fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) }));
  return { status: response.status, body: (await response.json()) as Json };
}

/** Repeats a call that gets a 503. On a busy machine, the database can take seconds to respond. */
export async function patiently(call: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await call();
    if (response.status !== 503) return response;
    await sleep(1_000 * Number(response.headers.get('retry-after')));
  }
}
