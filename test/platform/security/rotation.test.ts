/**
 * Replaces JWT_SECRET on two servers in two steps, while they get calls. First, both learn to verify the new secret.
 * Then both sign with it. In a single step, each would reject the other's new tokens.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { homeowner } from '../../story/cast.js';
import { openTestApp, type TestApp } from '../../setup/app.js';

const OLD = 'the secret that has been used for a year';
const NEW = 'the secret that is to be used from today';

const BEFORE = { JWT_SECRET: OLD };
const FIRST_STEP = { JWT_SECRET: OLD, JWT_PREVIOUS_SECRET: NEW };
const SECOND_STEP = { JWT_SECRET: NEW, JWT_PREVIOUS_SECRET: OLD };
const AFTER = { JWT_SECRET: NEW };

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

const open = (environment: Record<string, string>) => openTestApp(environment, { sameDatabaseAs: app });

class Fleet {
  readonly instances: TestApp[] = [];
  #sent = 0;

  next(): TestApp {
    this.#sent += 1;
    return this.instances[this.#sent % this.instances.length] as TestApp;
  }

  /** If a server rejects a call because it's stopping, another one gets the call. */
  async rest(...call: Parameters<TestApp['rest']>): ReturnType<TestApp['rest']> {
    try {
      return await this.next().rest(...call);
    } catch (error) {
      if (!/^ECONN(REFUSED|RESET)$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
      return this.rest(...call);
    }
  }

  /** Each server in turn leaves the load balancer and finishes its calls. Then a new one takes its place. */
  async replaceAll(environment: Record<string, string>): Promise<void> {
    for (const old of this.instances.slice()) {
      this.instances.splice(this.instances.indexOf(old), 1);
      await old.close();
      this.instances.push(await open(environment));
    }
  }
}

it('without one refused token', async () => {
  const fleet = new Fleet();
  fleet.instances.push(await open(BEFORE), await open(BEFORE));
  const answers: number[] = [];
  let isOver = false;
  const callers = await Promise.all(
    Array.from({ length: 4 }, (_, number) => homeowner(fleet.next(), `Hanna${number}`)),
  );
  const tokens = callers.map(({ token }) => token);

  const call = async (number: number): Promise<void> => {
    const { email, password } = callers[number] ?? {};
    for (let round = 1; !isOver; round += 1) {
      answers.push((await fleet.rest('GET', '/v1/me', { token: tokens[number] })).status);
      if (round % 5 !== 0) continue;
      const logIn = () => fleet.rest('POST', '/v1/auth/login', { body: { email, password } });
      let answer = await logIn();
      // A stopping server rejects passwords that wait for hashing. The caller retries and gets the other one.
      while (answer.status === 503) answer = await logIn();
      answers.push(answer.status);
      tokens[number] = answer.body.token;
    }
  };
  const calling = callers.map((_, number) => call(number));

  await fleet.replaceAll(FIRST_STEP);
  await fleet.replaceAll(SECOND_STEP);
  isOver = true;
  await Promise.all(calling);
  expect(answers.length).toBeGreaterThan(20);
  expect(answers.filter((status) => status !== 200)).toEqual([]);

  // After fifteen minutes, all tokens under the old secret have expired.
  const { email, password } = callers[0] ?? {};
  const { body } = await fleet.next().rest('POST', '/v1/auth/login', { body: { email, password } });
  await fleet.replaceAll(AFTER);
  expect((await fleet.next().rest('GET', '/v1/me', { token: body.token })).status).toBe(200);
  await Promise.all(fleet.instances.map((instance) => instance.close()));
});

it('a request repeated with its Idempotency-Key is recognized after each step', async () => {
  const hanna = await homeowner(app, 'Hanna');
  const draft = { title: 'Sink', description: 'It drips.' };
  const jobs: string[] = [];
  for (const environment of [BEFORE, FIRST_STEP, SECOND_STEP]) {
    const instance = await open(environment);
    const { email, password } = hanna;
    const { token } = (await instance.rest('POST', '/v1/auth/login', { body: { email, password } })).body;
    const headers = { 'idempotency-key': 'one draft' };
    const { status, body } = await instance.rest('POST', '/v1/jobs', { token, headers, body: draft });
    expect(status).toBe(201);
    jobs.push(body.id);
    await instance.close();
  }
  expect(new Set(jobs).size).toBe(1);
});

it('in a single step, an instance refuses what another has signed', async () => {
  const [replaced, waiting] = [await open(SECOND_STEP), await open(BEFORE)];
  const { token } = await homeowner(replaced, 'Hanna');
  expect((await waiting.rest('GET', '/v1/me', { token })).status).toBe(401);
  await replaced.close();
  await waiting.close();
});
