/** A whole run: people, clients, faults, the calm after them, and everything that the verdict needs. */
import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN, JWT_SECRET, type Json } from '../../../setup/app.js';
import { clone } from '../../../app/clone.js';
import { openBoard } from './board.js';
import { chance } from './chance.js';
import { openClient, type Client, type Lane } from './client.js';
import { durablePostgres, type DurablePostgres } from '../../../faults/durable-postgres.js';
import { openInstances, type Instances } from './instances.js';
import { isRead, outcomeOf, settles, type Attempt, type Entry, type Member } from './history.js';
import { plan, type Amounts, type Fault } from './schedule.js';
import type { Participant } from './verdict.js';
import { openWire, type Wire } from './wire.js';

export interface Weather extends Omit<Amounts, 'instances'> {
  readonly seed: string;
  readonly clients: number;
  /** Steps that aren't done by then are skipped. Finished steps are still checked. */
  readonly withinMs: number;
  /** Called after every fault with the run's progress. */
  report?(how: string): void;
}

/** The recovery once an outage's cause is over: when Postgres accepts connections again, or the server is open. */
export interface Recovery {
  readonly after: Fault['kind'];
  /** Until the first write succeeded. After a server's death, the first write at that server. */
  readonly firstWriteMs: number;
  /** Until every client had a definite response. */
  readonly lastClientMs: number;
}

export interface Storm {
  readonly history: Entry[];
  readonly people: Participant[];
  readonly backendsKilled: number;
  readonly restarts: number;
  readonly serverKills: number;
  readonly recoveries: Recovery[];
  /** From the end of the faults until the last client has finished its current step and a few more. */
  readonly calmMs: number;
  readonly operations: number;
  /** Until everyone had signed up. `ms` is the whole run's time. */
  readonly setUpMs: number;
  readonly ms: number;
  readonly complaints: () => string[];
  readonly postgres: DurablePostgres;
  readonly instances: Instances;
  end(): Promise<void>;
}

const INSTANCES = 2;
export const FORTUNE = 1_000_000;
const CALM_STEPS = 5;
/** A fault that has started must finish by then. Otherwise, it is stuck. */
const STUCK_MS = 60_000;

export async function rage({ seed, clients, withinMs, report = () => {}, ...amounts }: Weather): Promise<Storm> {
  const began = performance.now();
  const postgres = await durablePostgres();
  await postgres.start();
  const project = clone();
  const environment = {
    DATABASE_URL: postgres.url,
    JWT_SECRET,
    RATE_LIMITS: 'off',
    DEADLINES: 'act',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  };
  const instances = await openInstances(project, INSTANCES, environment);
  const wire = openWire(instances.urls);
  const history: Entry[] = [];
  const recoveries: Recovery[] = [];
  let operations = 0;
  let backendsKilled = 0;
  let restarts = 0;
  let serverKills = 0;
  let over = false;
  let givenUp = false;

  const { admin, lanes, shared, people } = await gather(instances.urls, clients);
  await endow(wire, history, people, admin);

  /** The outage that has ended, until the clients recover. */
  let recovering:
    | {
        after: Fault['kind'];
        since: number;
        instance: number | undefined;
        firstWriteMs: number | undefined;
        lastClientMs: number;
        waiting: Set<number>;
      }
    | undefined;
  function onAttempt(attempt: Attempt, { request, client }: Entry): void {
    if (!settles(attempt)) return;
    operations += 1;
    if (!recovering) return;
    const ms = performance.now() - recovering.since;
    const { after, instance, waiting } = recovering;
    if (attempt.data && !isRead(request.op) && (instance ?? attempt.instance) === attempt.instance)
      recovering.firstWriteMs ??= ms;
    if (waiting.delete(client)) recovering.lastClientMs = ms;
    if (waiting.size > 0 || recovering.firstWriteMs === undefined) return;
    recoveries.push({ after, firstWriteMs: recovering.firstWriteMs, lastClientMs: recovering.lastClientMs });
    recovering = undefined;
  }
  const causeEnded = (after: Fault['kind'], instance?: number) => {
    recovering = {
      after,
      since: performance.now(),
      instance,
      firstWriteMs: undefined,
      lastClientMs: 0,
      waiting: new Set(crowd.keys()),
    };
  };

  const setUpMs = performance.now() - began;
  const board = openBoard(shared);
  const crowd = lanes.map((lane, number): Client =>
    openClient({
      number,
      lane,
      admin,
      board,
      wire,
      instances: INSTANCES,
      dice: chance(seed, `client ${number}`),
      available: FORTUNE + lane.bonus,
      history,
      onAttempt,
      isGivenUp: () => givenUp,
    }),
  );

  const { faults, backendKills } = plan({ ...amounts, instances: INSTANCES }, chance(seed, 'faults'));
  const deadline = began + withinMs;
  const isLate = () => performance.now() > deadline;
  const reached = async (count: number) => {
    while (operations < count && !isLate()) await pause(5);
  };
  const tooLong = new AbortController();
  const untilTooLate = async () => {
    await pause(deadline + STUCK_MS - performance.now(), undefined, { signal: tooLong.signal });
    throw new Error(
      `It is stuck: in ${Math.round((withinMs + STUCK_MS) / 1000)} s ${operations} operations, ${backendsKilled} ` +
        `backends killed, ${restarts} restarts and ${serverKills} kills of servers.`,
    );
  };

  async function happen(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case 'restart of Postgres':
        await postgres.stop(fault.how);
        await pause(fault.downMs);
        await postgres.start();
        restarts += 1;
        return causeEnded(fault.kind);
      case 'kill -9 of a server':
        await instances.kill(fault.instance);
        serverKills += 1;
        await instances.revive(fault.instance);
        return causeEnded(fault.kind, fault.instance);
      case 'kill -9 of all servers while Postgres is down':
        await postgres.stop(fault.how);
        await Promise.all(instances.urls.map((_, instance) => instances.kill(instance)));
        serverKills += INSTANCES;
        await postgres.start();
        restarts += 1;
        await Promise.all(instances.urls.map((_, instance) => instances.revive(instance)));
        return causeEnded(fault.kind);
    }
  }

  async function bringFaults(): Promise<void> {
    for (const { after, what } of faults) {
      await reached(after);
      if (isLate()) return;
      await happen(what);
      while (recovering && !isLate()) await pause(5);
      report(
        `${Math.round((performance.now() - began) / 1000)} s: ${operations} operations, ${backendsKilled} ` +
          `backends killed, after a ${what.kind}`,
      );
    }
  }

  async function killBackends(): Promise<void> {
    for (const { after, what } of backendKills) {
      await reached(after);
      for (let left = what; left > 0 && !isLate();) {
        const killed = await killBusy(postgres, left);
        if (killed === 0) await pause(2);
        backendsKilled += killed;
        left -= killed;
      }
    }
  }

  const calls = crowd.map(async (client) => {
    while (!over) await client.step();
  });
  try {
    await Promise.race([
      Promise.all([bringFaults(), killBackends(), reached(amounts.operations)]),
      // The clients run until they are stopped, so here they can only fail.
      Promise.all(calls),
      untilTooLate(),
    ]);
  } catch (error) {
    over = givenUp = true;
    await Promise.allSettled(calls);
    await instances.stop();
    await postgres.remove();
    project.remove();
    await killer?.sql.end({ timeout: 1 });
    throw new Error(
      `The storm ${seed} broke off: ` +
        `${error instanceof Error ? error.message : String(error)}\n${instances.complaints().join('\n')}`,
      { cause: error },
    );
  }
  tooLong.abort();
  over = true;
  const faultsEnded = performance.now();
  await Promise.all(calls);
  await Promise.all(
    crowd.map(async (client) => {
      for (let step = 0; step < CALM_STEPS; step += 1) await client.step();
    }),
  );
  const calmMs = performance.now() - faultsEnded;

  return {
    history,
    people,
    backendsKilled,
    restarts,
    serverKills,
    recoveries,
    calmMs,
    operations,
    postgres,
    instances,
    setUpMs,
    ms: performance.now() - began,
    complaints: () => [...instances.complaints(), ...postgres.panics()],
    end: async () => {
      wire.close();
      await instances.stop();
      await postgres.remove();
      project.remove();
    },
  };
}

let killer: { sql: ReturnType<DurablePostgres['open']>; of: DurablePostgres } | undefined;

/** Ends the busy backends of the servers' pools, whatever they are doing. Ends none while Postgres itself is down. */
async function killBusy(postgres: DurablePostgres, limit: number): Promise<number> {
  if (killer?.of !== postgres) killer = { of: postgres, sql: postgres.open('killer') };
  try {
    const killed = await killer.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like 'job-marketplace%' and state <> 'idle' and query not like '%pg_advisory_lock(%'
        order by random() limit ${limit}`;
    return killed.length;
  } catch {
    await pause(20);
    return 0;
  }
}

interface Gathered {
  readonly admin: Participant;
  readonly lanes: (Lane & { bonus: number })[];
  readonly shared: Participant[];
  readonly people: Participant[];
}

const BONUS = { homeowner: 10, contractor: 25 } as const;
const SHARED_OWNERS = 4;

/** Everyone signs up before the storm. */
export async function gather(urls: readonly string[], clients: number): Promise<Gathered> {
  const [url = ''] = urls;
  const people: Participant[] = [];
  let arrivals = 0;
  const join = async (kind: 'homeowner' | 'contractor'): Promise<Participant> => {
    arrivals += 1;
    const body = {
      email: `${kind}.${arrivals}@example.test`,
      password: 'a password for the storm',
      first_name: 'Hanna',
      last_name: 'of Test',
    };
    const session = await post(`${url}/v1/auth/signup/${kind}`, body);
    const person = {
      userId: session.user.id,
      profileId: session[kind].id,
      kind,
      token: session.token,
      signUpBonus: BONUS[kind],
    };
    people.push(person);
    return person;
  };
  const session = await post(`${url}/v1/auth/login`, ADMIN);
  const admin: Participant = {
    userId: session.user.id,
    profileId: '',
    kind: 'admin',
    token: session.token,
    signUpBonus: 0,
  };
  people.push(admin);
  const lanes: Gathered['lanes'] = [];
  for (let lane = 0; lane < clients; lane += 1) {
    const [owner, one, other] = await Promise.all([join('homeowner'), join('contractor'), join('contractor')]);
    lanes.push({ owner, contractors: [one, other], bonus: BONUS.homeowner });
  }
  const shared = await Promise.all(Array.from({ length: SHARED_OWNERS }, () => join('homeowner')));
  return { admin, lanes, shared, people };
}

/** Gives everyone enough tokens for their calls. These transfers are part of the history. */
export async function endow(wire: Wire, history: Entry[], members: readonly Participant[], by: Member): Promise<void> {
  let number = 0;
  for (const { userId, kind } of members) {
    if (kind === 'admin') continue;
    number += 1;
    const tag = `c999-${number}`;
    const request = {
      op: 'adjustTokens',
      by,
      body: { userId, amount: FORTUNE, reason: `to begin with [${tag}]` },
    } as const;
    const entry: Entry = {
      client: 999,
      request,
      tag,
      expects: 'success',
      shows: { amount: FORTUNE },
      charge: 0,
      attempts: [],
    };
    history.push(entry);
    entry.attempts.push(await wire.send(request, tag, 0, 'rest'));
    if (!outcomeOf(entry)?.data)
      throw new Error(`Nobody could give ${userId} anything: ${JSON.stringify(entry.attempts)}`);
  }
}

async function post(address: string, body: object): Promise<Json> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer: Json = await response.json();
  if (response.status >= 300) throw new Error(`${address}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}
