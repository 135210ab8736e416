/**
 * The server reads only what is selected. Whatever part of a job a caller selects, they get the same values as in the
 * whole job.
 */
import { getNamedType, isLeafType, isObjectType, isRequiredArgument, type GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { schema } from '../../src/graphql/schema.js';
import { JOB_TRANSITIONS, type JobTransitionKey } from '../../src/market/rules/lifecycle.js';
import { callGraphql, changedBy, operationName } from '../story/calls.js';
import { givenHappyJob, happyCall, HAPPY_CALLS } from '../story/happy-calls.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { gather, givenJob, PEOPLE, type GivenJob, type People } from '../story/journey.js';
import { allNumbered } from '../platform/live/positions.js';
import { copiesOf } from '../story/scenes.js';
import { diceOf, type Dice } from '../setup/random/dice.js';

/** Selecting a whole job costs more than a request may. */
vi.mock('../../src/platform/caller-limits.js', async (original) => ({
  ...(await original<typeof import('../../src/platform/caller-limits.js')>()),
  GRAPHQL_LIMITS: new Proxy({}, { get: () => 100_000_000 }),
}));

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  for (const state of ['open', 'awarded', 'disputed'] as const)
    await givenJob(app, state, people, { offers: { awardee: { guaranteed_view: true } } });
  // An event's position is null until it's numbered.
  await allNumbered(app);
});
afterAll(() => app.close());

/** Fields by name. A field with an object has its own tree. */
interface Tree {
  [field: string]: Tree | null;
}

function everythingOf(type: GraphQLObjectType, levels: number): Tree {
  const fields = Object.values(type.getFields()).flatMap((field): [string, Tree | null][] => {
    const inner = getNamedType(field.type);
    if (field.args.some(isRequiredArgument)) return [];
    if (isLeafType(inner)) return [[field.name, null]];
    return isObjectType(inner) && levels > 0 ? [[field.name, everythingOf(inner, levels - 1)]] : [];
  });
  return Object.fromEntries(fields);
}

/** A random part of the tree, with at least one field. */
function partOf(tree: Tree, dice: Dice): Tree {
  const names = Object.keys(tree).filter(() => dice.percent(35));
  const chosen = names.length > 0 ? names : Object.keys(tree).slice(0, 1);
  return Object.fromEntries(chosen.map((name) => [name, tree[name] ? partOf(tree[name], dice) : null]));
}

function written(tree: Tree): string {
  return Object.entries(tree)
    .map(([name, inner]) => (inner ? `${name}${PAGED.has(name) ? '(first: 2)' : ''} { ${written(inner)} }` : name))
    .join(' ');
}

const PAGED = new Set(['bids', 'timeline']);

function projected(value: Json, tree: Tree | null): Json {
  if (value === null || tree === null) return value;
  if (Array.isArray(value)) return value.map((one) => projected(one, tree));
  return Object.fromEntries(Object.entries(tree).map(([name, inner]) => [name, projected(value[name], inner)]));
}

const JOB = everythingOf(schema.getType('Job') as GraphQLObjectType, 3);
const PARTS = 12;

describe.each(PEOPLE)('for the %s', (who) => {
  it(`any part of a page of jobs equals that part of the whole page, ${PARTS} times`, async () => {
    const read = async (tree: Tree) => {
      const answer = await app.graphql(`{ jobs(first: 3) { nodes { ${written(tree)} } } }`, {
        token: people[who].token,
      });
      expect(answer.errors).toBeUndefined();
      return answer.data.jobs.nodes;
    };
    const whole = await read(JOB);
    for (let part = 0; part < PARTS; part += 1) {
      const tree = partOf(JOB, diceOf(part * 7_919 + PEOPLE.indexOf(who)));
      expect(await read(tree), written(tree)).toEqual(projected(whole, tree));
    }
  });
});

/** An event gets its position shortly after the commit, so it may not have one yet. */
const unnumbered = (value: Json): Json =>
  JSON.parse(JSON.stringify(value, (key, inner) => (key === 'position' ? null : inner)));

describe.each(Object.keys(JOB_TRANSITIONS) as JobTransitionKey[])('of the job that %s has moved', (key) => {
  it('any part equals that part of what is read afterward', async () => {
    const [, by] = HAPPY_CALLS[key];
    const single = Object.keys(JOB).map((name) => ({ [name]: JOB[name] ?? null }));
    const several = Array.from({ length: 5 }, (_, part) => partOf(JOB, diceOf(part * 7_919 + key.length)));
    // Selects each field on its own, to show that it doesn't depend on another. A few moves are enough, because all of
    // them build their statements the same way.
    const trees = key === 'checkIn' || key === 'publish' || key === 'award' ? [...single, ...several] : several;
    const copies = await copiesOf(app, await givenHappyJob(app, key, people), trees.length);
    for (const [at, tree] of trees.entries()) {
      const asked = happyCall(key, people, copies[at] as GivenJob);
      const selection = written(tree);
      const answer = await callGraphql(app, key, { ...asked, selection });
      expect(answer.errors, written(tree)).toBeUndefined();
      const moved = answer.data[operationName(key)][changedBy(key)];
      const read = await app.graphql(`query($id: ID!) { job(id: $id) { ${written(JOB)} } }`, {
        token: people[by].token,
        variables: { id: asked.job },
      });
      expect(unnumbered(moved), written(tree)).toEqual(unnumbered(projected(read.data.job, tree)));
    }
  });
});

it('a whole job has many fields', () => {
  const count = (tree: Tree): number => Object.values(tree).reduce((sum, inner) => sum + (inner ? count(inner) : 1), 0);
  expect(count(JOB)).toBeGreaterThan(150);
});
