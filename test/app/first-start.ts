/**
 * `npm start` in a fresh clone, stopped by a signal. Building the project and creating a database take longer than most
 * tests that start servers. They happen once per run, and the tests copy the build and the data folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestProject } from 'vitest/node';
import { processesOf } from '../platform/embedded/processes.js';
import { untilReady } from './callers.js';
import { cloneUnbuilt } from './clone.js';

export interface FirstStart {
  readonly folder: string;
  readonly dataFolder: string;
  readonly url: string;
  readonly databaseProcesses: number;
  /** The exit code of npm, which got the signal. */
  readonly code: number | null;
  readonly output: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    firstStart: FirstStart;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const clone = cloneUnbuilt();
  try {
    project.provide('firstStart', await startOnce(clone.folder, clone.dataFolder()));
  } catch (error) {
    clone.remove();
    throw error;
  }
  return clone.remove;
}

async function startOnce(folder: string, dataFolder: string): Promise<FirstStart> {
  const { PATH, HOME, TMPDIR } = process.env;
  const env = { PATH, HOME, TMPDIR, PORT: '0', DATA_DIR: dataFolder };
  const npm = spawn('npm', ['start'], { cwd: folder, env });
  const closed = once(npm, 'close');
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
      const opened = /is running at (\S+)/.exec(output)?.[1];
      if (opened) resolve(opened);
    };
    npm.stdout.on('data', collect);
    npm.stderr.on('data', collect);
    void closed.then(() => reject(new Error(`npm start failed:\n${output}`)));
  });
  await untilReady(url);
  const databaseProcesses = processesOf(dataFolder).length;
  npm.kill('SIGTERM');
  const [code] = (await closed) as [number | null];
  return { folder, dataFolder, url, databaseProcesses, code, output };
}
