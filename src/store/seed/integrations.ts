/**
 * The integrations of an uneven market: API keys and webhook endpoints of one person in five, and a delivery of each of
 * the busy homeowner's events to their endpoint.
 */
import type { TransactionSql } from 'postgres';
import { busyHomeowner, seededId, type Market } from './market.js';

/** The first number of the sessions of keys and of webhooks: after all people. */
const FROM = 1_000_000_000;
const KEYS_OF_BUSY_HOMEOWNER = 40;

export const busyEndpoint = (market: Market) => seededId('whk', FROM + busyHomeowner(market));

export async function insertIntegrations(tx: TransactionSql, market: Market): Promise<void> {
  const busy = busyHomeowner(market);
  const moment = `date_trunc('milliseconds', now()) - interval '500 days' + n * interval '1 minute'`;
  const owners = `(select n, n as owner from generate_series(1, ${busy}, 5) n
    union all select ${busy} + 10 + at, ${busy} from generate_series(1, ${KEYS_OF_BUSY_HOMEOWNER}) at) o`;
  await tx.unsafe(`
    insert into sessions (id, user_id, created_at, ends_at)
    select pg_temp.made('ses', ${FROM} + n), pg_temp.made('usr', owner), ${moment}, 'infinity' from ${owners}`);
  await tx.unsafe(`
    insert into api_keys (id, user_id, session_id, name, secret_hash, created_at)
    select pg_temp.made('key', ${FROM} + n), pg_temp.made('usr', owner), pg_temp.made('ses', ${FROM} + n),
      'Program ' || n, 'seeded ' || n, ${moment} from ${owners}`);
  await tx.unsafe(`
    insert into webhook_endpoints (id, user_id, url, event_types, status, paused_reason, secrets, sealed_by,
      created_at, updated_at)
    select pg_temp.made('whk', ${FROM} + n), pg_temp.made('usr', n), 'https://hooks.example.com/' || n, '{}', 'paused',
      'requested', '[]', 'seeded', ${moment}, ${moment}
    from (select n from generate_series(1, ${busy - 1}, 5) n union select ${busy}) o`);
  await tx.unsafe(`
    insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, attempts_made, due_at, created_at,
      ended_at)
    select 'dlv_' || substr(id, 5), '${busyEndpoint(market)}', id, type,
      case when position % 50 = 0 then 'failed' else 'delivered' end, 1, occurred_at, occurred_at, occurred_at
    from events where homeowner_id = pg_temp.made('hmw', ${busy})`);
  await tx.unsafe(`
    insert into webhook_attempts (delivery_id, number, started_at, duration_ms, response_status)
    select id, 1, created_at, 40, case when status = 'failed' then 500 else 204 end from webhook_deliveries`);
  await tx.unsafe(`insert into webhook_cursor (position) select max(position) from events`);
}
