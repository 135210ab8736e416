/**
 * PostGraphile 5 on `node:http`, with the schema that it generates from the tables. Its pool is as large as all the
 * others. It doesn't set options per query, so it doesn't need transactions. Anything that the tables can't express is
 * added as its documentation shows. A transition is the floor's single statement.
 */
import { createServer } from 'node:http';
import pg from 'pg';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { sideEffectWithPgClient } from 'postgraphile/@dataplan/pg';
import { context, lambda, object, type FieldArgs, type Step } from 'postgraphile/grafast';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { extendSchema, gql, makeJSONPgSmartTagsPlugin } from 'postgraphile/utils';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import { newId } from '../../../src/market/store/new-id.js';
import { claimsOf } from './access.js';
import { environment } from './environment.js';
import { actionsOn, NOTHING_SPECIAL } from './market.js';
import { listening, observe } from './observed.js';
import { POOL_SIZE } from './postgres.js';
import { AWARD_STATEMENT, CHECK_IN_STATEMENT, PUBLISH_STATEMENT, VIEWER_STATEMENT } from './statements.js';

declare global {
  // This is how to extend PostGraphile's context.
  namespace Grafast {
    interface Context {
      viewer: Viewer;
    }
  }
}

const pool = new pg.Pool({ connectionString: environment('DATABASE_URL'), max: POOL_SIZE });

async function viewerOf(authorization: string | undefined): Promise<Viewer | undefined> {
  const claims = claimsOf(authorization);
  if (!claims) return undefined;
  const { rows } = await pool.query<Viewer & pg.QueryResultRow>({
    name: 'viewer',
    text: VIEWER_STATEMENT,
    values: [claims.sessionId, claims.userId],
  });
  return rows[0];
}

interface Moved {
  id: string;
  status: string;
  version: number;
  updated_at: Date | string;
  most_tokens_paid: number;
  available: number;
}

const changed = ({ id, status, version, updated_at: at }: Moved) => ({
  rowId: id,
  status,
  version,
  updatedAt: new Date(at).toISOString(),
});

function known(viewer: Viewer | undefined): Viewer {
  if (!viewer) throw new Error('UNAUTHENTICATED');
  return viewer;
}

const market = extendSchema((build) => {
  const { jobs, users, token_balances: balances } = build.pgResources;
  if (!jobs || !users || !balances) throw new Error('The tables are not there.');
  const { executor } = jobs;
  return {
    typeDefs: gql`
      type ChangedJob { rowId: String! status: JobStatus! version: Int! updatedAt: Datetime! }
      type PublishedJob { job: ChangedJob! tokensCharged: Int! remainingBalance: Int! }
      type AvailableAction { action: String! allowed: Boolean! reason: String }
      extend type Query { viewer: User }
      extend type Job { availableActions: [AvailableAction!]! }
      extend type Mutation {
        checkInJob(id: String!, notes: String): ChangedJob
        publishJob(id: String!): PublishedJob
        awardJob(id: String!, bidId: String!): ChangedJob
      }
    `,
    objects: {
      Query: { plans: { viewer: () => users.get({ id: context().get('viewer').get('userId') }) } },
      Job: {
        plans: {
          availableActions($job: { get(column: string): Step }) {
            const $viewer = context().get('viewer');
            const $balance = balances.get({ user_id: $viewer.get('userId') });
            const columns = {
              status: 'status',
              homeownerId: 'homeowner_id',
              awardedContractorId: 'awarded_contractor_id',
              title: 'title',
              description: 'description',
              category: 'category',
              urgency: 'urgency',
              addressLine1: 'address_line1',
              city: 'city',
              state: 'state',
              liveBids: 'live_bid_count',
            };
            const $facts = object({
              ...Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, $job.get(column)])),
              viewer: $viewer,
              balance: $balance.get('balance'),
              held: $balance.get('held'),
            });
            return lambda($facts, (facts) => {
              const { viewer, balance, held, liveBids, ...job } = facts as unknown as {
                viewer: Viewer;
                balance: number;
                held: number;
                liveBids: number;
              } & Parameters<typeof actionsOn>[1]['job'];
              return actionsOn(viewer, {
                ...NOTHING_SPECIAL,
                job,
                bidsToAward: liveBids,
                availableTokens: balance - held,
              });
            });
          },
        },
      },
      Mutation: {
        plans: {
          checkInJob: (_: unknown, asked: FieldArgs) =>
            sideEffectWithPgClient(
              executor,
              object({ viewer: context().get('viewer'), id: asked.getRaw('id'), notes: asked.getRaw('notes') }),
              async (client, data) => {
                const { viewer, id, notes } = data as unknown as {
                  viewer: Viewer;
                  id: string;
                  notes: string | undefined;
                };
                const values = [id, viewer.contractorId, newId('event'), viewer.userId, notes ?? null];
                const { rows } = await client.query<Moved>({ name: 'check_in', text: CHECK_IN_STATEMENT, values });
                if (!rows[0]) throw new Error('INVALID_TRANSITION');
                return changed(rows[0]);
              },
            ),
          publishJob: (_: unknown, asked: FieldArgs) =>
            sideEffectWithPgClient(
              executor,
              object({ viewer: context().get('viewer'), id: asked.getRaw('id') }),
              async (client, data) => {
                const { viewer, id } = data as unknown as { viewer: Viewer; id: string };
                const values = [id, viewer.homeownerId, viewer.userId, newId('transfer'), newId('event')];
                const { rows } = await client.query<Moved>({ name: 'publish', text: PUBLISH_STATEMENT, values });
                if (!rows[0]) throw new Error('INVALID_TRANSITION');
                return {
                  job: changed(rows[0]),
                  tokensCharged: rows[0].most_tokens_paid,
                  remainingBalance: rows[0].available,
                };
              },
            ),
          awardJob: (_: unknown, asked: FieldArgs) =>
            sideEffectWithPgClient(
              executor,
              object({ viewer: context().get('viewer'), id: asked.getRaw('id'), bidId: asked.getRaw('bidId') }),
              async (client, data) => {
                const { viewer, id, bidId } = data as unknown as { viewer: Viewer; id: string; bidId: string };
                const values = [id, bidId, viewer.homeownerId, newId('event'), viewer.userId];
                const { rows } = await client.query<Moved>({ name: 'award', text: AWARD_STATEMENT, values });
                if (!rows[0]) throw new Error('INVALID_TRANSITION');
                return changed(rows[0]);
              },
            ),
        },
      },
    },
  };
});

/** Events have no foreign key to their job, because they outlive a deleted one. Jobs are filtered by state. */
const tags = makeJSONPgSmartTagsPlugin({
  version: 1,
  config: {
    class: {
      events: { tags: { foreignKey: '(job_id) references jobs (id)' } },
      jobs: { attribute: { status: { tags: { behavior: '+filterBy' } } } },
    },
  },
});

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  plugins: [tags, market],
  pgServices: [makePgService({ pool, schemas: ['public'] })],
  grafast: { context: async (request) => ({ viewer: known(await viewerOf(request.node?.req.headers.authorization)) }) },
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
});

const port = Number(environment('PORT'));
const server = createServer();
server.on('request', (request, response) => observe(request, response, () => 'POST /graphql'));
await instance.createServ(grafserv).addTo(server);
server.listen(port, '127.0.0.1', () => listening('postgraphile', port));
