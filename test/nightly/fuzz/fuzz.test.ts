/**
 * Generated requests to a real server process, through both APIs and as raw bytes. They come from the OpenAPI document
 * and the GraphQL schema: valid, nearly valid, and broken. Every response must come in time, match the documents, and
 * reveal nothing internal. FUZZ_REQUESTS sets the number. Every run prints its FUZZ_SEED, which repeats the same
 * requests.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkDatabase } from '../../setup/database/checker.js';
import { JWT_SECRET, openTestApp, type TestApp } from '../../setup/app.js';
import { OWN_APP } from '../../market/operations/purchases/buyer.js';
import { StripeDouble } from '../../setup/stripe.js';
import { clone, type Clone } from '../../app/clone.js';
import { startServer } from '../../app/processes.js';
import type { Workshop } from './requests/breakages.js';
import { diceOf } from '../../setup/random/dice.js';
import { graphqlRequest } from './requests/graphql.js';
import { heldMemory, printed, PROBE, total } from './memory.js';
import { oddities } from './requests/odd.js';
import { rawRequest } from './requests/raw-bytes.js';
import { reduced } from './requests/reduce.js';
import { asShell, bytesOf, type Request } from './requests/requests.js';
import { restRequest } from './requests/rest.js';
import { openStock } from './requests/stock.js';
import { Tally } from './tally.js';
import { hiddenNames, checkWith } from './verdict.js';
import { Line, say, type Reply } from './wire.js';
import { seedFrom } from '../../setup/random/seed.js';
import { printFigures } from '../figures.js';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 3_000);
const SLOW_MS = 1_000;
const MEMORY_GROWTH_MB_MAX = 50;
const FAILURES_MAX = 10;
/** Fewer than the server's database connections. At capacity, it would rightly reject calls. */
const LINES = 6;
const BATCH = Math.min(5_000, Math.ceil(REQUESTS / 2));
/** Operations on sessions that others may already have ended. */
const ABOUT_SESSIONS = new Set([
  'logOut',
  'changePassword',
  'requestEmailVerification',
  'changeEmail',
  'refreshSession',
  'createApiKey',
  'revokeApiKey',
  'session',
  'endSession',
  'endOtherSessions',
]);
/** A short run may miss rare fields. */
const IS_LONG = REQUESTS >= 50_000;
const SEED = seedFrom(process.env.FUZZ_SEED);
const FLOORS = IS_LONG
  ? { operations: 1, fields: 0.97, successPercent: 70 }
  : { operations: 0.9, fields: 0.7, successPercent: 60 };

const stripe = new StripeDouble();
let app: TestApp;
let project: Clone;
let payments: Record<string, string>;
beforeAll(async () => {
  project = clone();
  payments = { ...(await stripe.open()), ...OWN_APP };
  app = await openTestApp(payments, { tokensLast: true });
});
afterAll(async () => {
  await app.close();
  stripe.close();
  project.remove();
});

it(
  `${REQUESTS} generated requests cause no fault, no leak, and no hang`,
  async () => {
    const began = Date.now();
    const memorySocket = join(project.folder, 'memory.sock');
    const { host, port: databasePort, username, database } = app.database.connection;
    const server = startServer(project, {
      DATABASE_URL: `postgres:///${database}`,
      PGHOST: host,
      PGPORT: String(databasePort),
      PGUSER: username,
      JWT_SECRET,
      RATE_LIMITS: 'off',
      CLOCK: 'adjustable',
      DEADLINES: 'act',
      ...payments,
      LOG_LEVEL: 'warn',
      NODE_OPTIONS: `--expose-gc --import=${PROBE}`,
      FUZZ_MEMORY_SOCKET: memorySocket,
    });
    const port = Number(new URL(await server.url).port);
    const sizes = { jobs: Math.ceil(BATCH / 100), spares: Math.ceil(BATCH / 12) };
    const stock = await openStock(app, sizes, stripe);
    const problemWith = checkWith(await hiddenNames(app.sql));
    const odd = oddities(SEED);
    const tally = new Tally(stock);
    const lines = Array.from({ length: LINES }, () => new Line(port));
    const failures = new Map<string, string>();
    const slow: { request: Request; ms: number }[] = [];

    async function send(line: Line, request: Request): Promise<Reply> {
      return request.raw ? say(port, request.raw) : line.ask(bytesOf(request), request.method);
    }

    async function play(line: Line, request: Request): Promise<void> {
      const reply = await send(line, request);
      tally.count(request, reply);
      if (reply.status === 401 && request.operation && !ABOUT_SESSIONS.has(request.operation))
        await stock.signInAgain();
      if (reply.ms > SLOW_MS) return void slow.push({ request, ms: reply.ms });
      const problem = problemWith(request, reply);
      if (problem !== undefined && failures.size < FAILURES_MAX) await report(line, request, problem);
    }

    /** Similar failures count as one, and are reported in the smallest form found. */
    async function report(line: Line, request: Request, problem: string): Promise<void> {
      const likeness = (text: string) =>
        `${request.kind} ${text.replaceAll(/[\w-]{20,}|\d+ ms|".*?"/gs, '…').slice(0, 200)}`;
      if (failures.has(likeness(problem))) return;
      failures.set(likeness(problem), problem);
      const smallest = await reduced(request, async (smaller) => {
        const again = problemWith(smaller, await send(line, smaller));
        return again !== undefined && likeness(again) === likeness(problem);
      });
      failures.set(likeness(problem), `${request.kind}: ${problem}\n  ${asShell(smallest, port)}`);
    }

    /**
     * On a busy machine, anything can be slow once. A request that is slow three times, the last two without other
     * load, is really slow.
     */
    async function tryAgainAlone(): Promise<void> {
      for (const { request, ms } of slow.splice(0)) {
        const [line] = lines as [Line];
        const again = await send(line, request);
        const once = again.ms > SLOW_MS ? await send(line, request) : again;
        if (once.ms > SLOW_MS)
          failures.set(
            request.kind,
            `${request.kind}: It took ${ms.toFixed(0)} ms, and ` +
              `then ${once.ms.toFixed(0)} ms.\n  ${asShell(request, port)}`,
          );
        else if (problemWith(request, once) !== undefined)
          await report(line, request, problemWith(request, once) ?? '');
      }
    }

    let next = 0;
    async function playTo(last: number): Promise<void> {
      await Promise.all(
        lines.map(async (line) => {
          while (next < last && failures.size < FAILURES_MAX) await play(line, generated(next++, { odd, stock }));
        }),
      );
      await tryAgainAlone();
      // If the server rejects the fuzzer's own people, the run ends. Its findings so far are still reported.
      await stock.refill().catch((error: Error) => {
        failures.set('stock', error.message);
        next = REQUESTS;
      });
      // Unlike other databases, the tests' database doesn't update its statistics automatically as it grows.
      await app.sql.unsafe('analyze');
    }

    await playTo(Math.ceil(REQUESTS / 10));
    const before = await heldMemory(memorySocket);
    while (next < REQUESTS && failures.size < FAILURES_MAX) await playTo(Math.min(next + BATCH, REQUESTS));
    const after = await heldMemory(memorySocket);

    const seconds = (Date.now() - began) / 1000;
    printFigures(
      `FUZZ_SEED=${SEED}: ${tally.requests} requests, ${seconds.toFixed(0)} s\n${tally.print()}\n` +
        `Memory after the first tenth: ${printed(before)}; at the end: ${printed(after)}`,
    );
    const alive = await send(lines[0] as Line, {
      kind: 'alive',
      method: 'GET',
      target: '/readyz',
      headers: [['Host', 'a']],
    });
    for (const line of lines) line.close();
    const { output, code } = await server.stop();

    const logged = output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    expect([...failures.values(), ...logged.slice(0, 3)], `FUZZ_SEED=${SEED}`).toEqual([]);
    expect(alive.status).toBe(200);
    expect(code).toBe(0);
    expect(await checkDatabase(app.sql)).toEqual([]);
    expect(total(after) - total(before)).toBeLessThan(MEMORY_GROWTH_MB_MAX);
    expect(
      1 - tally.unreachedOperations.length / (tally.operations.size + tally.unreachedOperations.length),
    ).toBeGreaterThanOrEqual(FLOORS.operations);
    expect(
      1 - tally.unreachedFields.length / (tally.fields.size + tally.unreachedFields.length),
    ).toBeGreaterThanOrEqual(FLOORS.fields);
    expect(tally.successShare).toBeGreaterThanOrEqual(FLOORS.successPercent);
  },
  600_000 + REQUESTS * 100,
);

/** Each request has separate dice, so it doesn't depend on the others. */
function generated(number: number, { odd, stock }: Omit<Workshop, 'dice'>): Request {
  const workshop: Workshop = { dice: diceOf(SEED + number * 7_919), odd, stock };
  const make = workshop.dice.weighted<() => Request>([
    [52, () => restRequest(workshop)],
    [40, () => graphqlRequest(workshop)],
    [8, () => rawRequest(workshop.dice.percent(50) ? restRequest(workshop) : graphqlRequest(workshop), workshop)],
  ]);
  return make();
}
