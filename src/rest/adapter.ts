/** The REST API: finds the route, runs the operation, and writes the result. */
import type { Exchange } from '../platform/http/exchange.js';
import type { Caller } from '../market/operations/operation.js';
import { assertDryRunHeader, countsOf, wantsDryRun, type DryRunEffects } from '../platform/call/dry-run.js';
import { perform } from '../platform/call/operation.js';
import { refuse } from '../market/rules/errors.js';
import { BODY_BYTES_MAX, DRY_RUN_EFFECTS_HEADER_BYTES_MAX } from '../platform/caller-limits.js';
import type { JobInclude } from '../market/store/jobs/job-parts.js';
import {
  chooseRoute,
  finderOf,
  type PathMatch,
  type Finder,
  type RouteMatch,
  hasBody,
} from '../platform/openapi/route.js';
import { sendFailure, sendResult } from './answer.js';
import { readInput, type Input } from './input.js';
import { ROUTES } from './routes.js';
import { toWire } from '../platform/openapi/wire.js';

const WITH_TOTAL: JobInclude = { total: true };

export interface RestApi {
  /** Undefined if no route has this path. */
  find: Finder;
  handle(exchange: Exchange, pathMatch: PathMatch | undefined, caller: Caller): Promise<void>;
}

export function openRestApi(): RestApi {
  const find = finderOf(ROUTES);

  return {
    find,
    handle: async (exchange, pathMatch, caller) => {
      try {
        if (!pathMatch) throw refuse('NOT_FOUND', { message: nothingAt(exchange.path) });
        await run(chooseRoute(pathMatch, exchange.method), exchange, caller);
      } catch (error) {
        sendFailure(exchange, error, caller);
      }
    },
  };
}

function nothingAt(path: string): string {
  return `There is nothing at ${path.slice(0, 200)}. GET /v1 lists every path.`;
}

async function run(match: RouteMatch, exchange: Exchange, caller: Caller): Promise<void> {
  const { route } = match;
  exchange.route = `${route.method} /v1${route.path}`;
  const body = hasBody(route) ? await exchange.body(BODY_BYTES_MAX) : undefined;
  // Operations with `ignoresKeyAndDryRun` don't have dry runs.
  const dryRunHeader = route.operation.ignoresKeyAndDryRun ? undefined : exchange.header('dry-run');
  let input: Input = {};
  // A function, so callers see refusals of authentication, the rate limit, and their role before those of the input.
  const read = async () => {
    assertDryRunHeader(dryRunHeader);
    if (body) await exchange.waitToParse(body);
    return (input = readInput(match, exchange, body));
  };
  const work = (): Promise<unknown> => perform(route.operation, read, caller, WITH_TOTAL);
  const result = wantsDryRun(dryRunHeader) ? await dryRun(work, exchange, caller) : await work();
  if (caller.replayed) exchange.response.setHeader('Idempotency-Replayed', 'true');
  await sendResult(exchange, route, input, result, caller);
}

async function dryRun(work: () => Promise<unknown>, { response }: Exchange, caller: Caller): Promise<unknown> {
  response.setHeader('Dry-Run', 'true');
  caller.beginDryRun();
  const result = await caller.withDryRunEnd(work);
  if (caller.dryRun) response.setHeader('Dry-Run-Effects', effectsHeader(caller.dryRun.effects));
  return result;
}

/** Clients fail on long headers, so a long one is replaced by the number of effects. */
function effectsHeader(effects: DryRunEffects): string {
  const header = JSON.stringify(toWire(effects));
  return Buffer.byteLength(header) <= DRY_RUN_EFFECTS_HEADER_BYTES_MAX ? header : JSON.stringify(countsOf(effects));
}
