/** Decisions about replicas that a test with one real replica can't reach. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { named, type Database, type Db } from '../../../src/platform/db/database.js';
import { openReplica, type ReplicaOptions } from '../../../src/platform/db/replica.js';
import type { Replica } from '../../../src/platform/db/stale-reads.js';
import { inTransactionOn } from '../../../src/platform/db/transaction.js';
import { refuse } from '../../../src/platform/errors.js';
import { until } from '../security/until.js';

const READ = named('read', 'select');

/** What the next connection's server has replayed. Each one returns its own position to a read. */
let replayed: number;
let afterRead: () => void;
let throwIfRefused: () => void;
let asked: number;
let problems: string[];
let replica: Replica;

const onReplica: Db['send'] = async ({ name }, [position]) => {
  throwIfRefused();
  if (name === 'hasReplayed') return [[replayed >= Number(position)]];
  if (name === 'readReplicaPosition') return [[String(replayed)]];
  if (name !== 'read') return [];
  const rows = [[`replica at ${replayed}`]];
  afterRead();
  return rows;
};

const fake = (send: Db['send']) => {
  const db = { send, inTransaction: (work: Parameters<typeof inTransactionOn>[1]) => inTransactionOn(send, work) };
  return { ...db, of: () => db, close: async () => {} } as unknown as Database;
};

const probed: Db['send'] = async (...call) => {
  asked += 1;
  await new Promise(setImmediate);
  return onReplica(...call);
};

function open(options: Partial<ReplicaOptions> = {}): Replica {
  return openReplica({
    lagMaxSeconds: 5,
    primary: fake(async () => [['100']]),
    isPrimaryAway: () => false,
    openPool: () => fake(onReplica),
    openProbe: () => fake(probed),
    redis: undefined,
    isOnlyInstance: () => true,
    metrics: { counter: () => () => {}, gauge: () => {} } as unknown as ReplicaOptions['metrics'],
    onUnusable: (problem) => problems.push(problem),
    onUsable: () => problems.push('usable'),
    ...options,
  });
}

const request = () => {
  const reads = replica.readsOf({ address: 'a', user: 'u' });
  const onPrimary = fake(async () => [['primary']]);
  return async () => (await reads.send({ statement: READ, params: [], isLong: false, onPrimary }))[0]?.[0];
};

beforeEach(async () => {
  [replayed, afterRead, throwIfRefused, asked, problems] = [100, () => {}, () => {}, 0, []];
  replica = open();
  await until(() => problems.includes('usable'));
});
afterEach(() => replica.close());

it('A request never goes back in time, although its address leads to several replicas', async () => {
  const read = request();
  replayed = 300;
  // The first replica replays more before it's asked for its position.
  afterRead = () => (replayed = 310);
  expect(await read()).toBe('replica at 300');
  [replayed, afterRead] = [309, () => {}];
  expect(await read()).toBe('primary');
  expect(await read()).toBe('primary');
  expect(await request()()).toBe('replica at 309');
});

it('If the replica is full, its reads use the primary', async () => {
  const refuseWith = (code: 'OVERLOADED' | 'RATE_LIMITED') => {
    throwIfRefused = () => {
      throw refuse(code);
    };
  };
  refuseWith('OVERLOADED');
  expect(await request()()).toBe('primary');
  refuseWith('RATE_LIMITED');
  await expect(request()()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
});

it('An event loop that stalls doesn’t look like a lost replica', async () => {
  await replica.close();
  problems = [];
  replica = open({
    openProbe: () =>
      fake(async (...call) => {
        const answer = onReplica(...call);
        // The answer arrives in time, but the loop reads it only after the timers.
        const endMs = performance.now() + 950;
        await new Promise(setImmediate);
        while (performance.now() < endMs);
        await new Promise(setImmediate);
        return answer;
      }),
  });
  await until(() => problems.length > 0);
  expect(problems).toEqual(['usable']);
});

it('Writes that wait for the replica share their questions', async () => {
  await replica.close();
  replica = open({
    redis: {
      isReachable: () => false,
      attempt: async () => undefined,
      redis: { on: () => {}, off: () => {} },
    } as unknown as NonNullable<ReplicaOptions['redis']>,
  });
  const waits = Array.from({ length: 500 }, (_, at) => replica.noteWrite(`u${at}`, 200));
  asked = 0;
  await until(() => asked > 3);
  replayed = 200;
  await Promise.all(waits);
  expect(asked).toBeLessThan(100);
});

it.each([
  [false, ['usable', 'the primary’s position can’t be read']],
  [true, ['usable']],
])(
  'If this server can’t ask the primary, and it’s away: %s, the replica’s lag must be known',
  async (isAway, expected) => {
    await replica.close();
    problems = [];
    let polls = 0;
    replica = open({
      lagMaxSeconds: 0.9,
      isPrimaryAway: () => isAway,
      primary: fake(async () => {
        polls += 1;
        if (polls > 1) throw new Error('cut off');
        return [['100']];
      }),
    });
    await until(() => polls > 2);
    expect(problems).toEqual(expected);
  },
);

it('After a gap between the primary’s positions, the replica must reach the second one', async () => {
  await replica.close();
  problems = [];
  let polls = 0;
  replica = open({
    lagMaxSeconds: 20,
    primary: fake(async () => {
      polls += 1;
      if (polls > 1 && polls < 5) throw new Error('cut off');
      return [[polls < 5 ? '100' : '200']];
    }),
  });
  await until(() => problems.length > 1);
  expect([polls, problems]).toEqual([5, ['usable', 'the replica is more than 20 seconds behind']]);
  replayed = 200;
  await until(() => problems.at(-1) === 'usable');
});

it('While the URL doesn’t point to a replica, every check opens a new connection', async () => {
  await replica.close();
  problems = [];
  let opened = 0;
  replica = open({
    openProbe: ({ onOpen }) => {
      onOpen?.(async () => void (opened += 1));
      return fake(async (...call) => (opened > 1 ? onReplica(...call) : [[null]]));
    },
  });
  await until(() => problems.includes('usable'));
  expect([opened, problems]).toEqual([2, ['the URL doesn’t point to a replica', 'usable']]);
});

it('Without Redis, reads use the primary as soon as another instance runs', async () => {
  await replica.close();
  let isAlone = true;
  replica = open({ isOnlyInstance: () => isAlone });
  await until(() => problems.filter((problem) => problem === 'usable').length > 1);
  expect(await request()()).toBe('replica at 100');
  isAlone = false;
  expect(await request()()).toBe('primary');
});
