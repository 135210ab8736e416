/** The log of a real process. Every line reaches its reader soon and in order, even after a crash. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const LOG = fileURLToPath(new URL('../../../src/platform/telemetry/log.ts', import.meta.url));
/** Long enough to fill a pipe and several batches. */
const LINES = 5_000;
const LOG_ALL_LINES = `for (let n = 0; n < ${LINES}; n += 1) log.info({ n }, 'a request');`;

/** Starts a process with `log` that runs these statements. */
function startProcess(statements: string) {
  const script = `
    import { createLog } from ${JSON.stringify(LOG)};
    const log = createLog('info');
    ${statements}`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stderr.resume();
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, ended };
}

async function readLog(statements: string) {
  const { child, ended } = startProcess(statements);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const { code } = await ended;
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  return { code, lines: lines.map((line) => JSON.parse(line) as { n?: number; level: string; msg: string }) };
}

const numbersOf = (lines: readonly { n?: number }[]) => lines.flatMap(({ n }) => (n === undefined ? [] : [n]));
const allNumbers = Array.from({ length: LINES }, (_, n) => n);

it('names each address of a host that cannot be reached, although the error itself has no message', async () => {
  const errors = "[new Error('connect ECONNREFUSED ::1:1'), new Error('connect ECONNREFUSED 127.0.0.1:1')]";
  const { lines } = await readLog(`log.warn({ err: new AggregateError(${errors}) }, 'unreachable');`);
  const message = 'connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1';
  expect(lines).toEqual([expect.objectContaining({ err: expect.objectContaining({ message }) })]);
});

describe('an operator reads every line, in order, when the process', () => {
  it.each([
    ['throws in the same turn', "throw new Error('broken');", 1],
    ['throws later', "setTimeout(() => { throw new Error('broken'); }, 20);", 1],
    ['leaves a rejected promise', "void Promise.reject(new Error('broken'));", 1],
    ['exits', 'process.exit(3);', 3],
    ['has nothing left to do', '', 0],
    [
      'is sent SIGTERM, and stops as the server does',
      `process.once('SIGTERM', () => { log.info('stopped'); process.exit(); });
       setInterval(() => {}, 1_000);
       process.kill(process.pid, 'SIGTERM');`,
      0,
    ],
  ])('%s', async (_, ending, exitCode) => {
    const { code, lines } = await readLog(`${LOG_ALL_LINES} ${ending}`);
    expect(code).toBe(exitCode);
    expect(numbersOf(lines)).toEqual(allNumbers);
  });

  it('exits while its pipe is full, and its reader continues a little later', async () => {
    const { child, ended } = startProcess(`${LOG_ALL_LINES} process.stderr.write('ends'); process.exit(3);`);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString())).pause();
    child.stderr.once('data', () => child.stdout.resume());
    expect(await ended).toEqual({ code: 3, signal: null });
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { n: number }).n),
    ).toEqual(allNumbers);
  });

  it('throws after a single line, which fills no batch', async () => {
    const { lines } = await readLog("log.info('the only request'); throw new Error('broken');");
    expect(lines.map(({ msg }) => msg)).toEqual(['the only request']);
  });

  it('logs why it crashes', async () => {
    const { lines } = await readLog(`
      process.on('uncaughtExceptionMonitor', (error) => log.fatal({ err: error }, 'uncaught exception'));
      log.info({ n: 0 }, 'a request');
      setTimeout(() => { throw new Error('broken'); });`);
    expect(lines.map(({ level }) => level)).toEqual(['info', 'fatal']);
  });
});

it('an operator sees a line without waiting for further traffic', async () => {
  const { child, ended } = startProcess("log.info('open'); process.stdin.resume();");
  for await (const line of createInterface({ input: child.stdout })) {
    expect(line).toContain('"msg":"open"');
    // The process waits for the end of its input. So the line arrived while the process was running.
    child.stdin.end();
  }
  expect(await ended).toEqual({ code: 0, signal: null });
});

it('an operator sees a warning even if the process never returns to its event loop', async () => {
  const { child, ended } = startProcess("log.info('before'); log.warn('stuck'); for (;;) {}");
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    expect(line).toContain(['"msg":"before"', '"msg":"stuck"'][count]);
    count += 1;
    if (count === 2) child.kill('SIGKILL');
  }
  expect(count).toBe(2);
  await ended;
});

describe('a process whose log nobody reads', () => {
  it.each(['', "process.once('SIGTERM', () => process.exit(0)); process.kill(process.pid, 'SIGTERM');"])(
    'continues, and ends when its pipe is closed: %s',
    async (ending) => {
      const { child, ended } = startProcess(`
        process.stdin.once('end', () => {
          let rounds = 0;
          const timer = setInterval(() => {
            log.warn('nobody reads this');
            for (let n = 0; n < 100; n += 1) log.info({ n }, 'nor this');
            rounds += 1;
            if (rounds === 20) { clearInterval(timer); ${ending} }
          }, 20);
        });
        process.stdin.resume();
        log.info('open');`);
      child.stdout.once('data', () => {
        child.stdout.destroy();
        child.stdin.end();
      });
      expect(await ended).toEqual({ code: 0, signal: null });
    },
  );

  it('ends when its pipe is closed before its only line is flushed', async () => {
    const { child, ended } = startProcess(`
      process.stdin.once('end', () => { log.info('nobody reads this'); process.exit(0); });
      process.stdin.resume();
      log.info('open');`);
    child.stdout.once('data', () => {
      child.stdout.destroy();
      child.stdin.end();
    });
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  it('waits five seconds for a reader when it ends', async () => {
    const { child, ended } = startProcess(`
      ${LOG_ALL_LINES}
      const began = Date.now();
      process.once('exit', () => process.stderr.write(String(Date.now() - began)));
      process.exit(3);`);
    child.stdout.pause();
    let waitedMs = '';
    child.stderr.on('data', (chunk: Buffer) => (waitedMs += chunk.toString()));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(3);
    child.stdout.resume();
    await ended;
    expect(Number(waitedMs)).toBeGreaterThanOrEqual(5_000);
  });

  it('keeps serving while its pipe is full', async () => {
    const { child, ended } = startProcess(`
      ${LOG_ALL_LINES}
      setTimeout(() => process.stderr.write('still here'), 300);
      process.stdin.resume();`);
    child.stdout.pause();
    const [said] = await new Promise<Buffer[]>((resolve) =>
      child.stderr.once('data', (...all: Buffer[]) => resolve(all)),
    );
    expect(String(said)).toBe('still here');
    child.kill('SIGKILL');
    child.stdout.resume();
    await ended;
  });
});
