/**
 * A contractor's CRM, as an integrator would write one. It gets events through a webhook, stores them, and fills gaps
 * automatically.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, TestApp } from '../setup/app.js';
import type { Person } from '../story/cast.js';
import { openReceiver, verify, type Received } from '../market/webhooks/receiver.js';

export interface Crm {
  readonly webhookId: string;
  /** The stored events in order, as the webhook sent them. */
  events(): Json[];
  /** Undefined if the CRM doesn't know the job. */
  statusOf(jobId: string): string | undefined;
  /** The ranges that it has replayed. */
  readonly replays: readonly Range[];
  /** Looks for gaps now, instead of at the next interval. */
  fillGaps(): Promise<void>;
  /** While true, the CRM confirms events without storing them. */
  isForgetful: boolean;
  close(): Promise<void>;
}

interface Range {
  readonly after: string;
  readonly until: string;
}

/** In production, this is half a minute. */
const WAIT_MS = 2_000;

const REPLAY = `mutation ($id: ID!, $after: String!, $until: String!) {
  replayEvents(endpointId: $id, after: $after, until: $until) { replayedCount nextAfter } }`;

export async function openCrm(app: TestApp, { token }: Person): Promise<Crm> {
  const stored = new Map<string, Json>();
  const replays: Range[] = [];
  const receiver = await openReceiver((request, response) => {
    if (!crm.isForgetful) store(request);
    response.writeHead(204).end();
  });
  const made = await app.rest('POST', '/v1/webhooks', { token, body: { url: receiver.url } });
  const { webhook, secret } = made.body;

  function store(request: Received): void {
    const body = verify(secret, request) as Json;
    if (!stored.has(request.id)) stored.set(request.id, body);
  }

  const events = () =>
    [...stored.values()]
      .map(({ data }) => data)
      .toSorted((one, other) => Number(one.position) - Number(other.position));

  /** Gaps up to this position don't need another replay. What's still missing there can't be seen anymore. */
  let settled = 0n;
  let lastGaps: readonly bigint[] = [];

  async function fillGaps(): Promise<void> {
    const positions = events().map(({ position }) => BigInt(position));
    const gaps = [...stored.values()]
      .flatMap(({ previous_position: previous }) => (previous === null ? [] : [BigInt(previous)]))
      .filter((position) => position > settled && !positions.includes(position))
      .toSorted((one, other) => Number(one - other));
    const [lowest] = gaps;
    const until = gaps.at(-1);
    const areNew = !gaps.some((gap) => lastGaps.includes(gap));
    lastGaps = gaps;
    if (areNew || lowest === undefined || until === undefined) return;
    const before = positions.findLast((position) => position < lowest) ?? 0n;
    const range = { after: String(before > settled ? before : settled), until: String(until) };
    replays.push(range);
    const answer = await app.graphql(REPLAY, { token, variables: { id: webhook.id, ...range } });
    settled = BigInt(answer.data.replayEvents.nextAfter ?? until);
  }

  let isOpen = true;
  async function watchGaps(): Promise<void> {
    while (isOpen) {
      await sleep(WAIT_MS);
      await fillGaps();
    }
  }
  const watching = watchGaps();

  const crm: Crm = {
    webhookId: webhook.id,
    events,
    statusOf: (jobId) =>
      events()
        .filter(({ job_id, to_status }) => job_id === jobId && to_status !== null)
        .at(-1)?.to_status,
    replays,
    fillGaps,
    isForgetful: false,
    async close() {
      isOpen = false;
      await watching;
      await receiver.close();
    },
  };
  return crm;
}
