/** A market that consists only of rows: people, jobs, events, and webhook endpoints. Nothing runs in the background. */
import postgres, { type Sql } from 'postgres';
import type { AccountEventType } from '../../../../src/market/rules/account-events.js';
import type { EventType } from '../../../../src/market/rules/events.js';
import type { JobId, WebhookEndpointId } from '../../../../src/market/rules/ids.js';
import type { JobState } from '../../../../src/market/rules/states.js';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { insertCursor, enqueueNextBatch } from '../../../../src/market/store/webhooks/webhook-fan-out.js';
import { connect, type Database } from '../../../../src/platform/db/database.js';
import { freshDatabase } from '../../../setup/postgres.js';
import { viewerOf } from '../../../platform/live/viewers.js';

export interface Delivered {
  readonly id: string;
  readonly status: string;
  readonly position: number;
  readonly previous: number | null;
}

export interface WebhookLog {
  readonly sql: Sql;
  readonly db: Database;
  homeowner(): Promise<Viewer>;
  contractor(): Promise<Viewer>;
  job(owner: Viewer, status?: JobState): Promise<JobId>;
  /** Returns the event's position. */
  event(job: JobId, type: EventType, toStatus?: JobState): Promise<number>;
  accountEvent(user: Viewer, type: AccountEventType): Promise<number>;
  endpoint(owner: Viewer, types?: EventType[], accountTypes?: AccountEventType[]): Promise<WebhookEndpointId>;
  /** Stores that the event at this position matched one of the contractor's saved searches. */
  match(contractor: Viewer, job: JobId, position: number): Promise<void>;
  savedSearch(contractor: Viewer): Promise<string>;
  matchUpTo(position: number): Promise<void>;
  /** Moves both cursors as far as they can go. */
  fanOut(): Promise<void>;
  deliveries(endpoint: WebhookEndpointId): Promise<Delivered[]>;
  close(): Promise<void>;
}

export async function openWebhookLog(): Promise<WebhookLog> {
  const database = await freshDatabase();
  const sql = postgres({ ...database.connection, max: 3, fetch_types: false, onnotice: () => {} });
  const timeouts = { lockTimeoutMs: 100_000, statementTimeoutMs: 100_000, idleInTransactionTimeoutMs: 100_000 };
  const db = connect(database.connection, { poolSize: 4, ...timeouts });
  await insertCursor(db, {});

  async function person(role: 'homeowner' | 'contractor', profileId: string): Promise<Viewer> {
    const viewer = viewerOf({ userId: newId('user'), profileId }, role);
    const { userId } = viewer;
    await sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code)
      values (${userId}, ${`${userId.toLowerCase()}@example.test`}, ${role}, 'A', 'B', '', ${userId})`;
    const table = role === 'homeowner' ? 'homeowners' : 'contractors';
    await sql`insert into ${sql(table)} (id, user_id) values (${profileId}, ${userId})`;
    return viewer;
  }

  async function number(): Promise<number> {
    const [done] = await sql`select last_position from number_events(1000000)`;
    return Number(done?.last_position);
  }

  return {
    sql,
    db,
    homeowner: () => person('homeowner', newId('homeowner')),
    contractor: () => person('contractor', newId('contractor')),
    async job({ homeownerId }, status = 'open') {
      const id = newId('job');
      await sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx`insert into jobs (id, homeowner_id, status, title, description, category, urgency, address_line1, city,
            state) values (${id}, ${homeownerId}, ${status}, 'A job', 'To be done', 'roofing', 'standard', '1 Main',
            'Austin', 'TX')`;
      });
      return id;
    },
    async event(job, type, toStatus = 'open') {
      await sql`insert into events (id, job_id, sequence, type, from_status, to_status, homeowner_id)
        select ${newId('event')}, ${job}, (select count(*) + 1 from events where job_id = ${job}), ${type}, 'draft',
          ${toStatus}, homeowner_id from jobs where id = ${job}`;
      return number();
    },
    async accountEvent({ userId }, type) {
      await sql`insert into account_events (id, user_id, type, occurred_at)
        values (${newId('accountEvent')}, ${userId}, ${type}, now())`;
      return number();
    },
    async endpoint({ userId }, types = [], accountTypes = []) {
      const id = newId('webhookEndpoint');
      await sql`insert into webhook_endpoints (id, user_id, url, event_types, account_event_types, status, secrets,
          sealed_by) values (${id}, ${userId}, 'https://hooks.example.com', ${`{${types.join()}}`}::text::text[],
          ${`{${accountTypes.join()}}`}::text::text[], 'active', '[]', '')`;
      // Times are rounded to milliseconds. Only later events are for this endpoint.
      await sql`update webhook_endpoints set created_at = clock_timestamp() + interval '1 ms' where id = ${id}`;
      await sql`select pg_sleep(0.002)`;
      return id;
    },
    async match({ userId }, job, position) {
      await sql`insert into notifications (user_id, position, job_id, match_alert)
        values (${userId}, ${position}, ${job}, 'now')`;
    },
    async savedSearch({ contractorId }) {
      const id = newId('savedSearch');
      await sql`insert into saved_searches (id, contractor_id, name, alert, categories, matches_after)
        values (${id}, ${contractorId}, 'Roofs', 'now', '{roofing}', 0)`;
      return id;
    },
    async matchUpTo(position) {
      await sql`update search_cursor set matched_up_to = greatest(matched_up_to, ${position})`;
    },
    async fanOut() {
      while ((await enqueueNextBatch(db, { waits: false })) || (await enqueueNextBatch(db, { waits: true }))) continue;
    },
    async deliveries(endpoint) {
      const rows = await sql`select id, status, position, previous_position from webhook_deliveries
        where endpoint_id = ${endpoint} and position is not null order by position`;
      return rows.map(({ id, status, position, previous_position: previous }) => ({
        id,
        status,
        position: Number(position),
        previous: previous === null ? null : Number(previous),
      }));
    },
    async close() {
      await sql.end();
      await db.close();
      await database.drop();
    },
  };
}
