/**
 * Prints who may do what with another user's webhook endpoint. The table is separate, because a job's state doesn't
 * matter here.
 */
import { graphqlOutcome, restOutcome, type Outcome } from '../../story/calls.js';
import { openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { admin, contractor, homeowner, programOf, type Person } from '../../story/cast.js';

interface Way {
  readonly title: string;
  readonly method: string;
  /** `{id}` is the endpoint, and `{delivery}` is one of its deliveries. */
  readonly path: string;
  readonly body?: object;
  readonly graphql: string;
}

const WAYS: readonly Way[] = [
  { title: 'read', method: 'GET', path: '/{id}', graphql: 'query { it: webhookEndpoint(id: "{id}") { id } }' },
  {
    title: 'deliveries',
    method: 'GET',
    path: '/{id}/deliveries',
    graphql: 'query { it: webhookEndpoint(id: "{id}") { deliveries { totalCount } } }',
  },
  {
    title: 'change',
    method: 'PUT',
    path: '/{id}',
    body: { event_types: ['job.published'] },
    graphql:
      'mutation { it: updateWebhookEndpoint(id: "{id}", input: { eventTypes: [JOB_PUBLISHED] }) ' +
      '{ webhookEndpoint { id } } }',
  },
  {
    title: 'secret',
    method: 'POST',
    path: '/{id}/rotate-secret',
    graphql: 'mutation { it: rotateWebhookSecret(id: "{id}") { secret } }',
  },
  {
    title: 'test',
    method: 'POST',
    path: '/{id}/test',
    graphql: 'mutation { it: sendTestEvent(id: "{id}") { __typename } }',
  },
  {
    title: 'redeliver',
    method: 'POST',
    path: '/deliveries/{delivery}/redeliver',
    graphql: 'mutation { it: redeliver(deliveryId: "{delivery}") { __typename } }',
  },
  {
    title: 'replay',
    method: 'POST',
    path: '/{id}/replay',
    body: { after: '0' },
    graphql: 'mutation { it: replayEvents(endpointId: "{id}", after: "0") { __typename } }',
  },
  {
    title: 'delete',
    method: 'DELETE',
    path: '/{id}',
    graphql: 'mutation { it: deleteWebhookEndpoint(id: "{id}") { deletedWebhookEndpointId } }',
  },
];

/** The owner comes last, because their call may delete what the others must be denied. */
const CALLERS = ['anonymous', 'other homeowner', 'contractor', 'admin', 'owner’s API key', 'owner'] as const;
type Caller = (typeof CALLERS)[number];

export async function webhookPermissions(): Promise<string> {
  const app = await openTestApp();
  try {
    const others = {
      anonymous: undefined,
      'other homeowner': await homeowner(app, 'Otto'),
      contractor: await contractor(app, 'Carla'),
      admin: await admin(app),
    };
    const columns = await Promise.all(WAYS.map((way) => columnOf(app, way, others)));
    return tableOf(columns);
  } finally {
    await app.close();
  }
}

type Column = Readonly<Record<Caller, string>>;
type Others = Readonly<Record<Exclude<Caller, 'owner’s API key' | 'owner'>, Person | undefined>>;

/** Throws if the APIs disagree. */
async function columnOf(app: TestApp, way: Way, others: Others): Promise<Column> {
  const [byRest, byGraphql] = await Promise.all([
    outcomes(app, others, (ids, token) => viaRest(app, way, ids, token)),
    outcomes(app, others, (ids, token) => viaGraphql(app, way, ids, token)),
  ]);
  for (const caller of CALLERS)
    if (byRest[caller] !== byGraphql[caller])
      throw new Error(`${way.title}, ${caller}: ${byRest[caller]} by REST, ${byGraphql[caller]} by GraphQL`);
  return byRest;
}

interface Ids {
  readonly id: string;
  readonly delivery: string;
}

type Call = (ids: Ids, token: string | undefined) => Promise<string>;

async function outcomes(app: TestApp, others: Others, call: Call): Promise<Column> {
  const owner = await homeowner(app, 'Olga');
  const people = { ...others, owner, 'owner’s API key': await programOf(app, owner) };
  const { token } = owner;
  const newEndpoint = async (): Promise<Ids> => {
    const made = await app.rest('POST', '/v1/webhooks', { token, body: { url: 'https://hooks.example.com/' } });
    const { id } = made.body.webhook;
    const sent = await app.rest('POST', `/v1/webhooks/${id}/test`, { token });
    return { id, delivery: sent.body.id };
  };
  const column: Partial<Record<Caller, string>> = {};
  let ids = await newEndpoint();
  for (const caller of CALLERS) {
    // The owner's API key has already used up the first endpoint.
    if (caller === 'owner') ids = await newEndpoint();
    column[caller] = await call(ids, people[caller]?.token);
  }
  return column as Column;
}

const filled = (text: string, { id, delivery }: Ids) => text.replace('{id}', id).replace('{delivery}', delivery);

async function viaRest(app: TestApp, { method, path, body }: Way, ids: Ids, token: string | undefined) {
  const answer = await app.rest(method, `/v1/webhooks${filled(path, ids)}`, { token, ...(body && { body }) });
  return wordOf(restOutcome(answer));
}

async function viaGraphql(app: TestApp, { graphql }: Way, ids: Ids, token: string | undefined) {
  const answer: Json = await app.graphql(filled(graphql, ids), { token });
  return wordOf(graphqlOutcome(answer));
}

const wordOf = ({ ok, code }: Pick<Outcome, 'ok' | 'code'>) => (ok ? 'ok' : String(code));

function tableOf(columns: readonly Column[]): string {
  const lines = [
    ['', ...WAYS.map(({ title }) => title)],
    ...CALLERS.toReversed().map((caller) => [caller, ...columns.map((column) => column[caller])]),
  ];
  const widths = lines[0]!.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  const rows = lines.map((line) =>
    line
      .map((text, at) => text.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
  const says = 'Who can do what with a homeowner’s webhook endpoint. The state of their jobs doesn’t matter.';
  return [`${'—'.repeat(12)} A WEBHOOK ENDPOINT`, says, '/v1/webhooks/{id} · webhookEndpoint', '', ...rows].join('\n');
}
