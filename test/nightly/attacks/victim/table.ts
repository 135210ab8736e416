/**
 * The victim's table. Each row is an attack on a real server with production settings. It shows how much a homeowner
 * and an operator at other addresses notice. To run only this: `npm run nightly -- victim`. `VICTIM_ROW=…` selects rows
 * by a regular expression on their names.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkDatabase } from '../../../setup/database/checker.js';
import { carryOut } from './attack.js';
import { attackersAddress, createGround, victimsAddress, type Row } from './ground.js';
import { createPeople, type People } from './people.js';
import { openPlainServer, type PlainServer } from './plain-server.js';
import { openAttackedServer, type AttackedServer, type ServerSettings } from './server.js';
import { delaysOf, failuresOf, printTable, type Outcome } from './verdict.js';
import { prepareVictim, type Experience, type Ports } from './victim.js';

const ATTACK_MS = 2_000;
export const MEMORY_RETURNS_WITHIN_MS = 5_000;
const TIMES = ['readMs', 'publishMs', 'logInMs', 'healthMs', 'plainMs'] as const;

export const CHOSEN = new RegExp(process.env.VICTIM_ROW ?? '', 'i');

export interface Attacked {
  readonly server: AttackedServer;
  readonly people: People;
}

let server: AttackedServer;
let plainServer: PlainServer;
let people: People;
let calm: Experience | undefined;
const outcomes: Outcome[] = [];
/** Each row's addresses contain it. */
let lastNumber = 0;

/** Runs the rows on a separate server, and returns that server for later checks. */
export function victimsTable(rows: readonly Row[], settings: ServerSettings): () => Attacked {
  beforeAll(async () => {
    [server, plainServer] = await Promise.all([openAttackedServer(settings), openPlainServer()]);
    people = createPeople(server.market);
    [calm] = (await warmUp(3)).slice(-1);
  }, 120_000);
  afterAll(async () => {
    printTable(outcomes, calm);
    plainServer?.close();
    await server?.close();
  }, 60_000);

  rows
    .filter(({ name }) => CHOSEN.test(name))
    .map((row) =>
      it(`${row.finding === undefined ? '' : `finding ${row.finding}: `}${row.name} (${row.who})`, async () => {
        const outcome = await measure(row);
        outcomes.push(outcome);
        expect(failuresOf(outcome).join('\n')).toBe('');
      }, 120_000),
    );

  it('and afterward the database is consistent, and the server is the one that was started', async () => {
    expect(await checkDatabase(server.sql)).toEqual([]);
    expect(server.restarts).toEqual([]);
  }, 60_000);

  return () => ({ server, people });
}

/** If anything took too long, the row runs twice more, and the median of each time counts. */
async function measure(row: Row): Promise<Outcome> {
  const first = await run(row);
  if (delaysOf(first).length === 0) return first;
  const measured = [first, await run(row), await run(row)];
  const median = (key: (typeof TIMES)[number]) =>
    measured.map(({ experience }) => experience[key]).toSorted((a, b) => a - b)[1];
  const medians = Object.fromEntries(TIMES.map((key) => [key, median(key)]));
  // Of all other findings, the worst counts.
  const worst = measured.find((one) => failuresOf(one).length > delaysOf(one).length) ?? first;
  return { ...worst, experience: { ...worst.experience, ...medians } };
}

async function run(row: Row): Promise<Outcome> {
  const number = (lastNumber += 1);
  if (await server.ensureHealthy()) await warmUp(1);
  const { callersPort: port, restarts } = server;
  const restartsBefore = restarts.length;
  const person = people.homeowner();
  const victim = await prepareVictim(ports(), victimsAddress(number), person);
  const attacks = await row.attacks(
    createGround(port, server.market, people, number, { email: person.email, jobId: victim.openJobId }),
  );
  const watch = watchMemory();
  const attackers = attacks.map((one) =>
    carryOut(one, { port, address: attackersAddress(number), forMs: row.forMs ?? ATTACK_MS }),
  );
  await Promise.all(attackers.map(({ begun }) => begun));
  const attack = Promise.all(attackers.map(({ ended }) => ended));
  const experience = await victim.live(attack);
  const tallies = await attack;
  const hasReturned = await memoryReturns();
  return {
    row,
    isBehindProxy: server.port !== server.callersPort,
    experience,
    tallies,
    peakMb: watch.stop(),
    hasReturned,
    memoryMb: server.residentMb(),
    died: !server.isRunning() || restarts.length > restartsBefore,
    output: server.output(),
  };
}

/** Runs without an attack, so the first row doesn't have to wait for the compiler. */
async function warmUp(rounds: number): Promise<Experience[]> {
  const calm: Experience[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const victim = await prepareVictim(ports(), victimsAddress(0), people.homeowner());
    calm.push(await victim.live(sleep(1_000)));
  }
  return calm;
}

function ports(): Ports {
  return { port: server.callersPort, plainPort: plainServer.port };
}

function watchMemory(): { stop(): number } {
  let peakMb = 0;
  const timer = setInterval(() => (peakMb = Math.max(peakMb, server.residentMb())), 25);
  return {
    stop: () => {
      clearInterval(timer);
      return peakMb;
    },
  };
}

async function memoryReturns(): Promise<boolean> {
  const deadline = performance.now() + MEMORY_RETURNS_WITHIN_MS;
  for (;;) {
    if (await server.holdsLittle()) return true;
    if (!server.isRunning() || performance.now() > deadline) return false;
    await sleep(100);
  }
}
