/**
 * The deliveries to a contractor’s webhook endpoint. The contractor’s own server, at the endpoint’s URL, lists the
 * positions of the events that it has stored. If it has lost some, a button replays them.
 */
import { useEffect, useEffectEvent, useState } from 'react';
import type { DeliveriesQuery } from '../gql/graphql';
import { DELIVERIES, REPLAY } from './documents';
import { Form } from './form';
import { useGraph } from './graph';

type Endpoint = NonNullable<DeliveriesQuery['webhookEndpoints']>['nodes'][number];

export function WebhooksPage() {
  const graph = useGraph();
  const { data, error, again } = graph.useRead(DELIVERIES, {});
  const send = graph.useWrite();
  const [stored, setStored] = useState<readonly string[]>([]);
  const endpoint = data?.webhookEndpoints?.nodes[0];
  const url = endpoint?.url;
  const readStored = async () => {
    if (url !== undefined) setStored(await (await fetch(url)).json());
  };
  const begin = useEffectEvent(readStored);
  useEffect(() => void begin(), [url]);
  if (!endpoint) return <main>{error ?? 'You have no webhook endpoint.'}</main>;
  const missing = missingFrom(stored, endpoint);
  return (
    <main>
      <h1>Webhooks</h1>
      <button onClick={() => void again().then(readStored)}>Look again</button>
      <ul aria-label="Deliveries">
        {endpoint.deliveries.nodes.map(({ id, eventType, position, previousPosition, attempts }) => (
          <li key={id}>
            {eventType} at {position}, after {previousPosition ?? 'none'}, sent {attempts.length} times
          </li>
        ))}
      </ul>
      <p data-testid="gaps">
        {missing ? `Your server lost an event at ${missing.until}.` : 'Your server lost nothing.'}
      </p>
      {missing && <Form name="Replay" send={() => send(REPLAY, { endpointId: endpoint.id, ...missing })} />}
    </main>
  );
}

/** The range to replay, as in docs/webhooks.md: a stored event names the one before it, which isn’t stored. */
function missingFrom(
  stored: readonly string[],
  { deliveries }: Endpoint,
): { after: string; until: string } | undefined {
  const gaps = deliveries.nodes
    .filter(({ position }) => position != null && stored.includes(position))
    .flatMap(({ previousPosition }) => previousPosition ?? [])
    .filter((position) => !stored.includes(position))
    .toSorted(byPosition);
  const [lowest] = gaps;
  const until = gaps.at(-1);
  if (lowest === undefined || until === undefined) return undefined;
  const before = stored.filter((position) => byPosition(position, lowest) < 0).toSorted(byPosition);
  return { after: before.at(-1) ?? '0', until };
}

const byPosition = (one: string, other: string) => Number(BigInt(one) - BigInt(other));
