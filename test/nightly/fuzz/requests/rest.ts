/** REST requests from the OpenAPI document: valid, nearly valid, and invalid. */
import { ADDRESS_BREAKAGES, ENVELOPE_BREAKAGES, spoiled, VALUE_BREAKAGES, type Workshop } from './breakages.js';
import type { Dice } from '../../../setup/random/dice.js';
import { baseHeaders, finished, setHeader, type Draft } from './draft.js';
import { DOCUMENTED, prepare, type Documented, type Prepared } from './operations.js';
import type { Request } from './requests.js';
import type { Stock } from './stock.js';
import { validValue } from './valid-values.js';

export function restRequest(workshop: Workshop): Request {
  const { dice } = workshop;
  const draft = validDraft(dice.pick(DOCUMENTED), workshop);
  const make = dice.weighted<() => Draft>([
    [45, () => draft],
    [25, () => spoiled(draft, draft.json === undefined ? ADDRESS_BREAKAGES : VALUE_BREAKAGES, workshop)],
    [12, () => spoiled(draft, ENVELOPE_BREAKAGES, workshop)],
    [18, () => spoiled(draft, ADDRESS_BREAKAGES, workshop)],
  ]);
  return finished(make());
}

function validDraft(operation: Documented, { dice, stock }: Workshop): Draft {
  const prepared = prepare(operation, stock, dice);
  const draft: Draft = {
    kind: 'rest valid',
    method: operation.method,
    path: operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => prepared.path[name] ?? ''),
    query: queryOf(operation, prepared, stock, dice),
    headers: baseHeaders(prepared.token, prepared.body !== undefined),
    json: prepared.body,
    operation: operation.id,
  };
  if (operation.method !== 'GET') addOptions(draft, operation, stock, dice);
  else if (dice.percent(5)) draft.method = 'HEAD';
  if (dice.percent(10)) draft.path = draft.path.replace(/^\/v1/, '');
  if (dice.percent(10)) setHeader(draft, 'X-Request-Id', `fuzz-${dice.int(1_000, 9_999)}`);
  draft.kind = 'rest valid';
  return draft;
}

function queryOf({ id, parameters }: Documented, { query }: Prepared, stock: Stock, dice: Dice): [string, string][] {
  const cursor = dice.percent(30) ? stock.cursor(id, dice) : undefined;
  const known = {
    after: cursor,
    page: cursor === undefined ? dice.int(1, 4) : undefined,
    per_page: dice.pick([1, 3, 20]),
    homeowner_id: undefined,
    ...query,
  };
  return parameters
    .filter((one) => one.in === 'query' && (one.name in query || dice.percent(30)))
    .map((one): [string, unknown] => [one.name, validValue(one.schema, one.name, dice, known)])
    .flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]));
}

/** Optional headers that a careful caller sends. */
function addOptions(draft: Draft, { parameters }: Documented, stock: Stock, dice: Dice): void {
  const taken = new Set(parameters.map((one) => one.name ?? one.$ref.split('/').at(-1)));
  if (taken.has('IdempotencyKey') && dice.percent(15)) setHeader(draft, 'Idempotency-Key', `key ${stock.unheard()}`);
  if (taken.has('DryRun') && dice.percent(15)) setHeader(draft, 'Dry-Run', dice.pick(['true', 'false']));
  if (taken.has('IfMatch') && dice.percent(10)) setHeader(draft, 'If-Match', '*');
}
