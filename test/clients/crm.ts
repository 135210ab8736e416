/**
 * A contractor's CRM, as an integrator would write one. It gets events through a webhook, stores them, and fills gaps
 * automatically.
 */
import type { Json, TestApp } from '../setup/app.js';
import type { Person } from '../story/cast.js';
import { openReceiver, verify, type Received } from '../market/webhooks/receiver.js';

export interface Crm {
  readonly webhookId: string;
  /** The stored events in order, as the webhook sent them. */
  events(): Json[];
  /** Undefined if the CRM doesn't know the job. */
  statusOf(jobId: string): string | undefined;
  /** The gaps that it has tried to fill. */
  readonly replays: readonly Gap[];
  /** While true, the CRM confirms events without storing them. */
  isForgetful: boolean;
  close(): Promise<void>;
}

export interface Gap {
  readonly after: string;
  readonly until: string;
}

/** In production, this is half a minute. */
const WAIT_MS = 50;

const REPLAY = `mutation ($id: ID!, $after: String!, $until: String!) {
  replayEvents(endpointId: $id, after: $after, until: $until) { replayedCount nextAfter } }`;

export async function openCrm(app: TestApp, { token }: Person): Promise<Crm> {
  const stored = new Map<string, Json>();
  const replays: Gap[] = [];
  const receiver = await openReceiver((request, response) => {
    if (!crm.isForgetful) store(request);
    response.writeHead(204).end();
  });
  const made = await app.rest('POST', '/v1/webhooks', { token, body: { url: receiver.url } });
  const { webhook, secret } = made.body;

  function store(request: Received): void {
    const { data, previous_position: previous } = verify(secret, request) as Json;
    if (stored.has(request.id)) return;
    stored.set(request.id, data);
    if (previous !== null && !has(previous)) setTimeout(() => void fillGap(previous), WAIT_MS);
  }

  const events = () => [...stored.values()].toSorted((one, other) => Number(one.position) - Number(other.position));
  const has = (position: string) => events().some((event) => event.position === position);

  /** If an event is still missing after the replay, the contractor can no longer see it. */
  async function fillGap(until: string): Promise<void> {
    if (has(until) || replays.some((gap) => gap.until === until)) return;
    const before = events().findLast(({ position }) => BigInt(position) < BigInt(until));
    const after = before?.position ?? String(BigInt(until) - 1n);
    replays.push({ after, until });
    await app.graphql(REPLAY, { token, variables: { id: webhook.id, after, until } });
  }

  const crm: Crm = {
    webhookId: webhook.id,
    events,
    statusOf: (jobId) =>
      events()
        .filter(({ job_id, to_status }) => job_id === jobId && to_status !== null)
        .at(-1)?.to_status,
    replays,
    isForgetful: false,
    close: () => receiver.close(),
  };
  return crm;
}
