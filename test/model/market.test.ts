/**
 * Random histories of many people over several jobs, randomly through both APIs. A small model of the interface
 * predicts every response. MODEL_RUNS sets the number of histories. To replay a failure, set MODEL_SEED and MODEL_PATH
 * to the values it prints.
 */
import fc from '../setup/random/property.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { histories } from './commands.js';
import { rarest, report, uncovered } from './coverage.js';
import { openWorld, type Coverage, type World } from './world.js';
import { seedFrom } from '../setup/random/seed.js';

const { MODEL_RUNS = '100', MODEL_SEED, MODEL_PATH } = process.env;
const runs = MODEL_PATH === undefined ? Number(MODEL_RUNS) : 1;
const seed = seedFrom(MODEL_SEED);

/** Worlds run in parallel because each waits for its database half the time. A replay uses only one. */
const WORLDS = MODEL_PATH === undefined ? 4 : 1;
const SHRINK_MS_MAX = 20_000;

const worlds: World[] = [];
beforeAll(async () => {
  for (let at = 0; at < WORLDS; at += 1) worlds.push(await openWorld());
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

it(
  `${runs} random histories match the model`,
  async () => {
    const coverage: Coverage = new Map();
    const started = Date.now();
    const playSome = (from: number, count: number) =>
      Promise.all(worlds.map((world, at) => play(world, from + at, Math.ceil(count / WORLDS), coverage)));
    await playSome(seed, runs);
    // Rare outcomes occur sooner or later. Only an outcome that never occurs is a gap in the histories.
    const complete = runs >= 500;
    for (let more = 1; complete && more <= 10 && uncovered(coverage).length > 0; more += 1)
      await playSome(seed + more * WORLDS, runs / 10);
    const calls = [...coverage.values()].reduce((sum, times) => sum + times, 0);
    console.log(
      `MODEL_SEED=${seed}: ${runs} ` +
        `histories, ${calls} calls, ${((Date.now() - started) / 1000).toFixed(1)} s\n${report(coverage)}\nThe ` +
        `rarest: ${rarest(coverage, 25)}`,
    );
    expect(complete ? uncovered(coverage) : []).toEqual([]);
  },
  1_200_000 + runs * 6_000,
);

async function play(world: World, ownSeed: number, numRuns: number, coverage: Coverage): Promise<void> {
  let failure = '';
  let failedAt: number | undefined;
  const property = fc.asyncProperty(histories, async (history) => {
    if (failedAt !== undefined && Date.now() - failedAt > SHRINK_MS_MAX) return;
    try {
      await world.play(history, coverage);
    } catch (error) {
      failedAt ??= Date.now();
      failure = `${world.transcript.join('\n')}\n${(error as Error).message}`;
      throw error;
    }
  });
  const outcome = await fc.check(property, {
    numRuns,
    seed: ownSeed,
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH, endOnFailure: true }),
  });
  if (outcome.failed)
    throw new Error(`MODEL_SEED=${outcome.seed} MODEL_PATH=${outcome.counterexamplePath}\n${failure}`);
}
