/** Mass assignment: sends protected fields to every REST body and GraphQL input. The error must name each of them. */
import { getNamedType, isInputObjectType, type GraphQLInputObjectType } from 'graphql';
import { schema } from '../../src/graphql/schema.js';
import type { IdKind } from '../../src/market/rules/ids.js';
import { newId } from '../../src/market/store/new-id.js';
import { bodySchema } from '../../src/platform/openapi/requests.js';
import type { Route } from '../../src/platform/openapi/route.js';
import { ROUTES } from '../../src/rest/routes.js';
import { BID } from '../../src/market/rules/entities/bid.js';
import { JOB } from '../../src/market/rules/entities/job.js';
import { CONTRACTOR, HOMEOWNER, USER } from '../../src/market/rules/entities/people.js';
import { camel, snake } from '../story/calls.js';
import type { Json } from '../setup/app.js';
import { outcomeOf, type Attack, type Ground } from './ground.js';

const SOURCE = 'OWASP API3:2023 (mass assignment)';
const REFUSED = '400 VALIDATION_FAILED, each by its name';

/**
 * Fields that give power or money, whether or not any resource has them. The list also includes every field of every
 * resource.
 */
const POWERS = [
  'role',
  'user_type',
  'is_admin',
  'verified',
  'balance',
  'held',
  'available',
  'password_hash',
  'session_id',
  'tokens_awarded',
  'completed_jobs',
  'rating_average',
];
const WANTED = [
  ...new Set([
    ...POWERS,
    ...[USER, HOMEOWNER, CONTRACTOR, JOB, BID].flatMap(({ fields }) => Object.keys(fields).map(snake)),
  ]),
];

const accepts = (schema: Json): Set<string> =>
  new Set(Object.entries<Json>(schema?.properties ?? {}).map(([name]) => name));

/** A caller whose role may call the operation. Any other would be rejected before the body is read. */
function callerOf(
  { operation: { allows } }: Pick<Route, 'operation'>,
  { ours: { people } }: Ground,
): string | undefined {
  if (allows === 'anyone') return undefined;
  const roles: readonly string[] = Array.isArray(allows) ? allows : ['homeowner'];
  return (roles.includes('homeowner') ? people.other : roles.includes('contractor') ? people.stranger : people.admin)
    .token;
}

const ID_KINDS: Readonly<Record<string, IdKind>> = { jobId: 'job', id: 'job' };
const addressOf = ({ path }: Route) =>
  `/v1${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => newId(kindOf(path, name)))}`;

function kindOf(path: string, name: string): IdKind {
  if (path.startsWith('/contractors')) return 'contractor';
  if (path.includes('/bids/') && name === 'id') return 'bid';
  return ID_KINDS[name] ?? 'job';
}

function missing(names: readonly string[], outcome: string, named: (name: string) => boolean): string {
  const unnamed = names.filter((name) => !named(name));
  return unnamed.length === 0 ? `${outcome}, each by its name` : `${outcome}, and nothing of ${unnamed.join(', ')}`;
}

function ofRoute(route: Route): Attack {
  const fields = accepts(bodySchema(route));
  const names = WANTED.filter((name) => !fields.has(name));
  return {
    name: `${names.length} fields that are not for callers, in ${route.method} /v1${route.path}`,
    source: SOURCE,
    outcome: REFUSED,
    run: async (ground) => {
      // A response names at most fifty fields, so the rest are sent in a second body.
      const outcomes = [];
      for (const part of [names.slice(0, 40), names.slice(40)]) {
        const body = Object.fromEntries(part.map((name) => [name, 1]));
        const answer = await ground.app.rest(route.method, addressOf(route), { token: callerOf(route, ground), body });
        outcomes.push(missing(part, outcomeOf(answer), (name) => name in (answer.body.details?.fields ?? {})));
      }
      return [...new Set(outcomes)].join('; ');
    },
  };
}

/**
 * A PUT accepts a resource as it was read. Changes to its read-only fields are rejected once the stored resource is
 * loaded.
 */
const CHANGED = (
  person: string,
  part: 'user' | 'homeowner' | 'contractor',
  names: readonly string[],
  pick: (ground: Ground) => string,
): Attack => ({
  name: `${person}’s ${names.join(', ')}`,
  source: SOURCE,
  outcome: REFUSED,
  run: async (ground) => {
    const answer = await ground.app.rest('PUT', '/v1/me', {
      token: pick(ground),
      body: { [part]: Object.fromEntries(names.map((name) => [name, 'changed'])) },
    });
    return missing(names, outcomeOf(answer), (name) => `${part}.${name}` in (answer.body.details?.fields ?? {}));
  },
});

const JOB_READ_ONLY = ['status', 'homeowner_id', 'awarded_bid_id', 'latitude', 'longitude', 'created_at'];

const PROFILE: readonly Attack[] = [
  CHANGED('a user', 'user', ['id', 'email', 'user_type', 'created_at'], ({ ours }) => ours.people.owner.token),
  CHANGED('a homeowner', 'homeowner', ['id', 'user_id', 'created_at'], ({ ours }) => ours.people.owner.token),
  CHANGED(
    'a contractor',
    'contractor',
    ['id', 'user_id', 'verified', 'completed_jobs', 'rating_average', 'rating_count', 'created_at'],
    ({ ours }) => ours.people.stranger.token,
  ),
  {
    name: `a draft’s ${JOB_READ_ONLY.join(', ')}`,
    source: SOURCE,
    outcome: REFUSED,
    run: async ({ app, ours }) => {
      const answer = await app.rest('PUT', `/v1/jobs/${ours.draft.id}`, {
        token: ours.people.owner.token,
        body: Object.fromEntries(JOB_READ_ONLY.map((name) => [name, 'changed'])),
      });
      return missing(JOB_READ_ONLY, outcomeOf(answer), (name) => name in (answer.body.details?.fields ?? {}));
    },
  },
  {
    name: 'someone’s own name for a role, in a sign-up',
    source: SOURCE,
    outcome: '400 VALIDATION_FAILED, and nobody came',
    run: async ({ app }) => {
      const email = 'mallory@example.test';
      const answer = await app.rest('POST', '/v1/auth/signup/homeowner', {
        body: { email, password: 'a password', first_name: 'M', last_name: 'M', role: 'admin', user_type: 'admin' },
      });
      const came = await app.sql`select id from users where email = ${email}`;
      return `${outcomeOf(answer)}, and ${came.length === 0 ? 'nobody' : 'someone'} came`;
    },
  },
];

const mutations = schema.getMutationType()?.getFields() ?? {};

function ofInput(mutation: string): Attack[] {
  const field = mutations[mutation];
  const input = field?.args.find(({ name }) => name === 'input');
  const type = input && getNamedType(input.type);
  if (!field || !type || !isInputObjectType(type)) return [];
  return withNested(type).map(([path, one]) => {
    const names = WANTED.map(camel).filter((name) => !(name in one.getFields()));
    // GraphQL stops after fifty errors.
    const sent = names.slice(0, 40);
    return {
      name: `${sent.length} fields that are not for callers, in ${[mutation, 'input', ...path].join('.')}`,
      source: SOURCE,
      outcome: REFUSED,
      run: async ({ app, ours }) => {
        const forbidden = Object.fromEntries(sent.map((name) => [name, 1]));
        const value = path.reduceRight<object>((inner, name) => ({ [name]: inner }), forbidden);
        const declared = field.args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
        const given = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
        const answer = await app.graphql(`mutation (${declared}) { ${mutation}(${given}) { __typename } }`, {
          token: ours.people.other.token,
          variables: { id: newId('job'), jobId: newId('job'), input: value },
        });
        const said = JSON.stringify(answer.errors);
        return missing(sent, outcomeOf(answer), (name) => said.includes(`\\"${name}\\"`));
      },
    };
  });
}

/** The input itself, and the inputs within it. */
function withNested(
  type: GraphQLInputObjectType,
  path: readonly string[] = [],
): (readonly [readonly string[], GraphQLInputObjectType])[] {
  const inner = Object.values(type.getFields()).flatMap((field) => {
    const named = getNamedType(field.type);
    return isInputObjectType(named) ? withNested(named, [...path, field.name]) : [];
  });
  return [[path, type], ...inner];
}

export const ASSIGNMENT_ATTACKS: readonly Attack[] = [
  ...ROUTES.filter(({ method }) => method === 'POST' || method === 'PUT').map(ofRoute),
  ...PROFILE,
  ...Object.keys(mutations).flatMap(ofInput),
];
