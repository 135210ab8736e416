/**
 * The bought part of a balance, and debts. The tests move tokens like the operations do, and compare with plain lots.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobId, UserId } from '../../../../src/market/rules/ids.js';
import { addDebt, moveTokens, selectBalance, type Movement } from '../../../../src/market/store/ledger/ledger.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { diceOf } from '../../../setup/random/dice.js';
import { callRest } from '../../../story/calls.js';
import { admin, contractor, homeowner, type Person } from '../../../story/cast.js';
import { DRAFT } from '../../../story/journey.js';

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await openTestApp();
  ada = await admin(app);
});
afterAll(() => app.close());

const idOf = (person: Person) => person.userId as UserId;
const db = () => app.services.db.of({ address: 'ledger' });

const move = (person: Person, movement: Omit<Movement, 'userId'>) =>
  db().inTransaction((tx) => moveTokens(tx, { userId: idOf(person), ...movement }));

/** Credits tokens like a paid purchase does. */
const buy = (person: Person, tokens: number) =>
  move(person, { change: tokens, reason: 'purchase', bought: tokens, purchaseId: newId('purchase') });

async function account(person: Person) {
  const [row] = await selectBalance(db(), { userId: idOf(person) });
  return row;
}

const transfers = (person: Person) =>
  app.sql`select reason::text, amount, bought, to_account = user_id as is_credit from token_transfers
    where user_id = ${person.userId} order by created_at, id`.then((rows) => rows.slice(1).map((row) => ({ ...row })));

async function publish(person: Person, urgency: string): Promise<string> {
  const { body } = await app.rest('POST', '/v1/jobs', { token: person.token, body: { ...DRAFT, urgency } });
  expect((await callRest(app, 'publish', { by: person, job: body.id })).status).toBe(200);
  return body.id;
}

describe('Granted tokens are spent first', () => {
  it('Hanna publishes with her granted tokens, then with bought ones, and a refund restores both parts', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await buy(hanna, 50);
    await publish(hanna, 'standard');
    expect(await account(hanna)).toEqual({ balance: 55, held: 0, available: 55, bought: 50, debt: 0 });
    const urgent = await publish(hanna, 'urgent');
    expect(await account(hanna)).toEqual({ balance: 25, held: 0, available: 25, bought: 25, debt: 0 });
    expect((await callRest(app, 'cancel', { by: hanna, job: urgent })).status).toBe(200);
    expect(await account(hanna)).toEqual({ balance: 55, held: 0, available: 55, bought: 50, debt: 0 });
    expect(await transfers(hanna)).toEqual([
      { reason: 'purchase', amount: 50, bought: 50, is_credit: true },
      { reason: 'publish', amount: 5, bought: 0, is_credit: false },
      { reason: 'publish', amount: 30, bought: 25, is_credit: false },
      { reason: 'publish_refund', amount: 30, bought: 25, is_credit: true },
    ]);
  });

  it('a refund also restores the bought tokens that Hanna spent to raise the urgency', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await buy(hanna, 50);
    const job = await publish(hanna, 'standard');
    expect((await callRest(app, 'update', { by: hanna, job, body: { urgency: 'urgent' } })).status).toBe(200);
    expect(await account(hanna)).toMatchObject({ balance: 30, bought: 30 });
    expect((await callRest(app, 'cancel', { by: hanna, job })).status).toBe(200);
    expect(await account(hanna)).toMatchObject({ balance: 60, bought: 50 });
  });
});

describe('A debt is paid first', () => {
  it('a credit pays Hanna’s debt with a separate transfer, and she keeps the rest', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await move(hanna, { change: -10, reason: 'adjustment' });
    await addDebt(db(), { userId: idOf(hanna), debt: 40 });
    await move(hanna, { change: 30, reason: 'adjustment' });
    expect(await account(hanna)).toEqual({ balance: 0, held: 0, available: 0, bought: 0, debt: 10 });
    await buy(hanna, 25);
    expect(await account(hanna)).toEqual({ balance: 15, held: 0, available: 15, bought: 15, debt: 0 });
    expect((await transfers(hanna)).slice(1)).toEqual(
      expect.arrayContaining([
        { reason: 'adjustment', amount: 30, bought: 0, is_credit: true },
        { reason: 'debt_payment', amount: 30, bought: 0, is_credit: false },
        { reason: 'purchase', amount: 25, bought: 25, is_credit: true },
        { reason: 'debt_payment', amount: 10, bought: 10, is_credit: false },
      ]),
    );
  });

  it("a released stake pays Carl's debt, and Cora's stake on the same job stays hers", async () => {
    const [hanna, carl, cora] = [
      await homeowner(app, 'Hanna'),
      await contractor(app, 'Carl'),
      await contractor(app, 'Cora'),
    ];
    const job = await publish(hanna, 'standard');
    for (const by of [carl, cora])
      await callRest(app, 'submitBid', { by, job, body: { amount: 100, guaranteed_view: true } });
    await move(carl, { change: -20, reason: 'adjustment' });
    await addDebt(db(), { userId: idOf(carl), debt: 8 });
    expect(await account(carl)).toEqual({ balance: 5, held: 5, available: 0, bought: 0, debt: 8 });
    // Hanna can't find out about the debt by a dry run.
    const dry = { token: hanna.token, headers: { 'dry-run': 'true' } };
    const tried = await app.rest('POST', `/v1/jobs/${job}/cancel`, { ...dry, body: {} });
    const effects = JSON.parse(tried.headers.get('dry-run-effects') ?? '{}');
    expect([tried.status, effects.charges]).toEqual([200, []]);
    const { extensions } = await app.graphql(`mutation { cancelJob(id: "${job}") { job { id } } }`, dry);
    expect(extensions.dryRun.charges).toEqual([]);
    expect((await callRest(app, 'cancel', { by: hanna, job })).status).toBe(200);
    expect(await account(carl)).toEqual({ balance: 0, held: 0, available: 0, bought: 0, debt: 3 });
    expect(await account(cora)).toEqual({ balance: 25, held: 0, available: 25, bought: 0, debt: 0 });
    expect((await transfers(carl)).at(-1)).toEqual({ reason: 'debt_payment', amount: 5, bought: 0, is_credit: false });
  });

  it('a debt never takes Carl’s staked tokens', async () => {
    const [hanna, carl] = [await homeowner(app, 'Hanna'), await contractor(app, 'Carl')];
    const job = await publish(hanna, 'standard');
    await callRest(app, 'submitBid', { by: carl, job, body: { amount: 100, guaranteed_view: true } });
    await move(carl, { change: -20, reason: 'adjustment' });
    await addDebt(db(), { userId: idOf(carl), debt: 100 });
    await move(carl, { change: 1, reason: 'adjustment' });
    expect(await account(carl)).toEqual({ balance: 5, held: 5, available: 0, bought: 0, debt: 99 });
  });
});

it('forty concurrent credits and two released stakes all count, and pay Carl’s debt once', async () => {
  const [hanna, carl] = [await homeowner(app, 'Hanna'), await contractor(app, 'Carl')];
  const jobs = [];
  for (let count = 0; count < 2; count += 1) jobs.push(await publish(hanna, 'standard'));
  for (const job of jobs)
    await callRest(app, 'submitBid', { by: carl, job, body: { amount: 1, guaranteed_view: true } });
  await move(carl, { change: -15, reason: 'adjustment' });
  await addDebt(db(), { userId: idOf(carl), debt: 100 });
  await Promise.all([
    ...Array.from({ length: 20 }, () => move(carl, { change: 3, reason: 'adjustment' })),
    ...Array.from({ length: 20 }, () => buy(carl, 4)),
    ...jobs.map((job) => callRest(app, 'cancel', { by: hanna, job })),
  ]);
  // 60 granted tokens, 80 bought tokens, and 10 released tokens, minus the debt of 100.
  expect(await account(carl)).toMatchObject({ balance: 50, held: 0, debt: 0 });
  const rows = await transfers(carl);
  const paid = rows.filter(({ reason }) => reason === 'debt_payment');
  expect(paid.reduce((sum, { amount }) => sum + amount, 0)).toBe(100);
  const bought = rows.reduce((sum, row) => sum + (row.is_credit ? row.bought : -row.bought), 0);
  expect((await account(carl))?.bought).toBe(bought);
});

/** An account as a list of lots, the oldest first. It implements every rule again, in the simplest way. */
class Lots {
  granted = 10;
  debt = 0;
  readonly bought: number[] = [];

  get boughtTotal(): number {
    return this.bought.reduce((sum, one) => sum + one, 0);
  }

  get balance(): number {
    return this.granted + this.boughtTotal;
  }

  spend(amount: number): { granted: number; bought: number } {
    const granted = Math.min(this.granted, amount);
    this.granted -= granted;
    let rest = amount - granted;
    for (const [at, lot] of this.bought.entries()) {
      const taken = Math.min(lot, rest);
      this.bought[at] = lot - taken;
      rest -= taken;
    }
    return { granted, bought: amount - granted };
  }

  credit(granted: number, bought: number): void {
    this.granted += granted;
    this.bought.push(bought);
    const paid = Math.min(this.debt, this.balance);
    this.debt -= paid;
    this.spend(paid);
  }
}

it('500 random movements lead to the same balances as plain lots, and the audit agrees', async () => {
  const dice = diceOf(7);
  const upTo = (most: number) => dice.int(1, most);
  const hanna = await homeowner(app, 'Hanna');
  const lots = new Lots();
  const published: { jobId: JobId; granted: number; bought: number }[] = [];
  const steps: Record<string, () => Promise<unknown>> = {
    grant: () => {
      const change = upTo(30);
      lots.credit(change, 0);
      return move(hanna, { change, reason: 'adjustment' });
    },
    buy: () => {
      const tokens = upTo(50);
      lots.credit(0, tokens);
      return buy(hanna, tokens);
    },
    publish: async () => {
      if (lots.balance === 0) return;
      const amount = upTo(Math.min(30, lots.balance));
      const jobId = newId('job');
      published.push({ jobId, ...lots.spend(amount) });
      await move(hanna, { change: -amount, reason: 'publish', jobId });
    },
    cancel: async () => {
      if (published.length === 0) return;
      const job = dice.pick(published);
      published.splice(published.indexOf(job), 1);
      lots.credit(job.granted, job.bought);
      await move(hanna, { change: job.granted + job.bought, reason: 'publish_refund', jobId: job.jobId });
    },
    owe: async () => {
      // A chargeback takes all available tokens before it leaves a debt.
      if (lots.balance > 0) {
        const change = -lots.balance;
        lots.spend(lots.balance);
        await move(hanna, { change, reason: 'chargeback' });
      }
      const debt = upTo(40);
      lots.debt += debt;
      await addDebt(db(), { userId: idOf(hanna), debt });
    },
  };
  const names = ['grant', 'buy', 'publish', 'publish', 'cancel', 'grant', 'buy', 'publish', 'cancel', 'owe'] as const;
  for (let step = 0; step < 500; step += 1) {
    const name = dice.pick(names);
    await steps[name]?.();
    const { balance, boughtTotal: bought, debt } = lots;
    expect([step, name, await account(hanna)]).toEqual([
      step,
      name,
      { balance, held: 0, available: balance, bought, debt },
    ]);
  }
  const { body } = await app.rest('GET', '/v1/tokens/audit', { token: ada.token });
  const own = body.mismatches.find((row: { user_id: string }) => row.user_id === hanna.userId);
  // This test moves tokens without purchases, so it compares only the sums of transfers.
  expect(own).toMatchObject({ kept: own.summed, kept_bought: own.summed_bought });
});
