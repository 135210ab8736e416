/**
 * The same attacks on a port without HAProxy, where the server promises less. It doesn't crash, its memory stays within
 * its heap of 512 MB, and it recovers within two seconds after the attacker's connections close.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printFigures } from '../../figures.js';
import { carryOut } from './attack.js';
import { attackersAddress, createGround } from './ground.js';
import { httpCall } from './http-call.js';
import { createPeople, type People } from './people.js';
import { CONNECTION_ROWS } from './rows/rows.js';
import { openAttackedServer, type AttackedServer } from './server.js';
import { CHOSEN, MEMORY_RETURNS_WITHIN_MS } from './table.js';

const ATTACK_MS = 2_000;
const WELL_WITHIN_MS = 2_000;
const ANSWERS_WITHIN_MS = 100;

describe('after an attack on a port without a proxy, the server recovers', () => {
  let server: AttackedServer;
  let people: People;
  beforeAll(async () => {
    server = await openAttackedServer({ behindProxy: false });
    people = createPeople(server.market);
  }, 120_000);
  afterAll(() => server?.close(), 60_000);

  it.each(CONNECTION_ROWS.filter(({ name }) => CHOSEN.test(name)).map((row, at) => [row.name, row, at] as const))(
    '%s',
    async (name, row, number) => {
      const { port, market } = server;
      const ground = createGround(port, market, people, number, { email: 'nobody@example.test', jobId: '' });
      const attackers = (await row.attacks(ground)).map((one) =>
        carryOut(one, { port, address: attackersAddress(number), forMs: row.forMs ?? ATTACK_MS }),
      );
      await Promise.all(attackers.map(({ ended }) => ended));
      const ms = await untilWell(server);
      printFigures(`${name}: well after ${Math.round(ms)} ms, ${server.residentMb()} MB`);
      expect(server.isRunning()).toBe(true);
      expect(ms).toBeLessThan(WELL_WITHIN_MS);
    },
    120_000,
  );

  it('and in the end it holds no more than before', async () => {
    const deadline = performance.now() + MEMORY_RETURNS_WITHIN_MS;
    while (!(await server.holdsLittle()) && performance.now() < deadline) await sleep(100);
    expect(await server.holdsLittle()).toBe(true);
  }, 60_000);
});

/** The time until two calls in a row get an immediate response. */
async function untilWell({ port, isRunning, output }: AttackedServer): Promise<number> {
  const began = performance.now();
  for (let answered = 0; answered < 2;) {
    if (!isRunning()) throw new Error(`The server has ended: ${output()}`);
    const { status, ms } = await httpCall({ port, path: '/readyz' });
    answered = status === 200 && ms < ANSWERS_WITHIN_MS ? answered + 1 : 0;
    if (status === 0) await sleep(20);
  }
  return performance.now() - began;
}
