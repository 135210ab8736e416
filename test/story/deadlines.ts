/** Moves the deadline clock, and reads what the clock did and will do. Both APIs must agree about the latter. */
import { expect } from 'vitest';
import { openTestApp, type AppOptions, type Json, type TestApp } from '../setup/app.js';
import type { Person } from './cast.js';
import { gather, type GivenJob, type People } from './journey.js';
import { snake } from './calls.js';

export const ACTING = { DEADLINES: 'act', CLOCK: 'adjustable' };

export interface TimedApp extends TestApp {
  readonly people: People;
  /** Moves the clock, and returns its new time. Everything that became due has been done by then. */
  days(count: number): Promise<Date>;
  hours(count: number): Promise<Date>;
  readJob(by: Person, job: GivenJob): Promise<Json>;
  upcoming(by: Person, job: GivenJob): Promise<Json[]>;
  /** When each allowed action ends. Actions without an end are left out. */
  untils(by: Person, job: GivenJob): Promise<Record<string, string>>;
  /** The events without an actor. Reminders are followed by their reader. */
  clockEvents(job: GivenJob): Promise<string[]>;
}

export async function openTimedApp(env: Record<string, string> = {}, options?: AppOptions): Promise<TimedApp> {
  const app = await openTestApp({ ...ACTING, ...env }, options);
  return withClock(app, await gather(app));
}

export function withClock(app: TestApp, people: People): TimedApp {
  const read = async ({ token }: Person, { id }: GivenJob, path: string, selection: string) => {
    const rest = await app.rest('GET', `/v1/jobs/${id}/${path}`, { token });
    const query = `query($id: ID!) { job(id: $id) { ${selection} } }`;
    const { data } = await app.graphql(query, { token, variables: { id } });
    return { rest: rest.body.data as Json[] | undefined, graphql: data?.job as Json };
  };
  const days = async (count: number) => {
    const seconds = Math.round(count * 86_400);
    const { token } = people.admin;
    const { status, body } = await app.rest('POST', '/v1/test-clock', { token, body: { seconds } });
    if (status !== 200) throw new Error(`The clock could not be moved: ${JSON.stringify(body)}`);
    return new Date(body.now);
  };
  return {
    ...app,
    people,
    days,
    hours: (count) => days(count / 24),
    readJob: async ({ token }, { id }) => (await app.rest('GET', `/v1/jobs/${id}`, { token })).body,
    async upcoming(by, job) {
      const { rest, graphql } = await read(by, job, 'upcoming', 'upcoming { action at unless }');
      if (!rest || !graphql) {
        expect([rest, graphql]).toEqual([undefined, null]);
        return [];
      }
      expect(graphql.upcoming.map((one: Json) => ({ ...one, action: one.action.toLowerCase() }))).toEqual(rest);
      return rest;
    },
    async untils(by, job) {
      const { rest = [], graphql } = await read(by, job, 'actions', 'availableActions { action until allowed }');
      const all = graphql.availableActions.map(({ action, until }: Json) => [action.toLowerCase(), until]);
      expect(rest.map(({ action, until }) => [snake(action).toLowerCase(), until])).toEqual(all);
      return Object.fromEntries(all.filter(([, until]: [string, string | null]) => until !== null));
    },
    async clockEvents({ id }) {
      const rows = await app.sql<{ type: string; to: string | null }[]>`select type, data ->> 'to' as to from events
        where job_id = ${id} and actor_id is null order by sequence`;
      return rows.map(({ type, to }) => (to === null ? type : `${type} ${to}`));
    },
  };
}

/** This long after a time, in the format of the APIs. */
export function daysAfter(time: string | Date, count: number): string {
  return new Date(new Date(time).getTime() + count * 86_400_000).toISOString();
}
