/** Kills servers and Postgres while callers repeat their calls, as real clients would. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { ENDINGS, type DurablePostgres, type Ending } from '../../faults/durable-postgres.js';
import type { CallOptions, Json, TestApp } from '../../setup/app.js';
import type { Dice } from '../../setup/random/dice.js';
import type { Instances } from './storm/instances.js';

const RECOVERED_WITHIN_MS = 60_000;

/** Repeats the work until it succeeds, because a server or Postgres may have been killed. */
async function again<Result>(work: () => Promise<Result | undefined>): Promise<Result> {
  const endMs = performance.now() + RECOVERED_WITHIN_MS;
  for (;;) {
    try {
      const result = await work();
      if (result !== undefined) return result;
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await pause(50);
  }
}

export interface PatientApp extends Pick<TestApp, 'rest' | 'sql'> {
  /** The URL of a random server. */
  anyUrl(): string;
  /** Responses that no caller should ever get. */
  readonly failures: readonly string[];
}

/** Repeats each call with its key until it has a response. PAYMENTS_UNAVAILABLE counts as a response. */
export function patientApp({ urls }: Pick<Instances, 'urls'>, sql: Sql): PatientApp {
  const failures: string[] = [];
  const anyUrl = () => urls[Math.floor(Math.random() * urls.length)] ?? '';

  async function rest(method: string, path: string, { token, body, headers }: CallOptions = {}) {
    const sent = new Headers({ 'content-type': 'application/json', ...headers });
    if (token !== undefined) sent.set('authorization', `Bearer ${token}`);
    if (method === 'POST' && !path.startsWith('/v1/auth')) sent.set('idempotency-key', randomUUID());
    return again(async () => {
      const response = await fetch(anyUrl() + path, { method, headers: sent, body: JSON.stringify(body) });
      const answer = { status: response.status, headers: response.headers, body: (await response.json()) as Json };
      const code = answer.body.details?.code;
      if (answer.status >= 500 && answer.status !== 503) failures.push(`${method} ${path}: ${answer.status} ${code}`);
      const isPassing = answer.status === 503 ? code !== 'PAYMENTS_UNAVAILABLE' : code === 'IDEMPOTENCY_KEY_IN_USE';
      return isPassing ? undefined : answer;
    });
  }

  const patientSql = ((...query: Parameters<Sql>) => again(async () => sql(...query))) as unknown as Sql;
  return { rest, sql: patientSql, anyUrl, failures };
}

export interface Kills {
  servers: number;
  postgres: number;
}

/** Kills servers or restarts Postgres, one after another, until it's aborted. */
export async function kill(
  { instances, postgres }: { readonly instances: Instances; readonly postgres: DurablePostgres },
  dice: Dice,
  { signal }: AbortController,
  kills: Kills,
): Promise<void> {
  while (!signal.aborted) {
    await pause(dice.int(0, 400));
    if (dice.percent(70)) {
      const instance = dice.int(0, instances.urls.length - 1);
      await instances.kill(instance);
      await instances.revive(instance);
      kills.servers += 1;
    } else {
      await postgres.stop(dice.pick(Object.keys(ENDINGS) as Ending[]));
      await postgres.start();
      kills.postgres += 1;
    }
  }
}
