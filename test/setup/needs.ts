/**
 * Skips tests that need a missing program, such as Redis or a browser. The test's name then says why. With
 * REQUIRE_ALL=1, as in the full run, the test fails instead.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, it } from 'vitest';

type Body = () => void | Promise<void>;

export interface Needing {
  it(name: string, body: Body, timeoutMs?: number): void;
  describe(name: string, body: () => void): void;
}

export function needs(program: string): Needing {
  if (programPath(program))
    return {
      it: (name, body, timeoutMs) => it(name, body, timeoutMs),
      describe: (name, body) => void describe(name, body),
    };
  return process.env.REQUIRE_ALL === '1' ? failing(program) : skipping(program);
}

/** The program's path. Undefined if it isn't on PATH. */
export function programPath(program: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder || '.', program))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function skipping(program: string): Needing {
  const reason = `(skipped: ${program} is not on PATH)`;
  return {
    it: (name, body) => it.skip(`${name} ${reason}`, body),
    describe: (name, body) => void describe.skip(`${name} ${reason}`, body),
  };
}

/** Fails the whole group as one test. Its own tests would fail in ways that hide the reason. */
function failing(program: string): Needing {
  const fail = (name: string) =>
    it(name, () => {
      throw new Error(`REQUIRE_ALL=1, and ${program} is not on PATH.`);
    });
  return { it: fail, describe: fail };
}
