/** A run's servers: real processes on one database, each with a port that it keeps after a restart. */
import type { Clone } from '../../../app/clone.js';
import { startServer, type Environment, type Started } from '../../../app/processes.js';

export interface Instances {
  readonly urls: readonly string[];
  /** Resolves once it has ended. */
  kill(instance: number): Promise<void>;
  /** Resolves once it is open again. */
  revive(instance: number): Promise<void>;
  /** Every exit that the test didn't cause, and every log line about an internal failure. */
  complaints(): string[];
  stop(): Promise<void>;
}

/** `ports` are the instances' ports, if others need to know them in advance. */
export async function openInstances(
  project: Clone,
  count: number,
  environment: Environment,
  ports: readonly string[] = [],
): Promise<Instances> {
  const complaints: string[] = [];
  const lives: Started[] = [];
  const expected = new Set<number>();

  function begin(instance: number, port: string): Started {
    const life = startServer(project, { LOG_LEVEL: 'warn', ...environment, PORT: port });
    lives[instance] = life;
    void listen(instance, life);
    return life;
  }

  async function listen(instance: number, life: Started): Promise<void> {
    const { code, signal, output } = await life.ended;
    if (!expected.has(life.pid) && !isWithoutDatabase(output))
      complaints.push(`Instance ${instance} ended by itself (${signal ?? code}) and said:\n${output.slice(-3_000)}`);
    complaints.push(...failuresIn(output).map((line) => `Instance ${instance} logged: ${line}`));
  }

  const urls: string[] = [];
  for (let instance = 0; instance < count; instance += 1) urls.push(await begin(instance, ports[instance] ?? '0').url);
  const end = async (instance: number, signal: NodeJS.Signals) => {
    const life = lives[instance];
    if (!life) return;
    expected.add(life.pid);
    await life.stop(signal);
  };
  return {
    urls,
    kill: (instance) => end(instance, 'SIGKILL'),
    revive: async (instance) => {
      const { port } = new URL(urls[instance] ?? '');
      // Postgres may be restarting at that moment. A supervisor restarts a server that exits, and so does the storm.
      for (;;) {
        const life = begin(instance, port);
        const isOpen = await life.url.then(
          () => true,
          () => false,
        );
        if (isOpen) return;
        if (!isWithoutDatabase(life.output())) throw new Error(`It ended and said:\n${life.output()}`);
      }
    },
    complaints: () => complaints,
    stop: async () => {
      await Promise.all(lives.map((_, instance) => end(instance, 'SIGTERM')));
    },
  };
}

/** True if the server ended because it found no database on startup. */
function isWithoutDatabase(output: string): boolean {
  return !output.includes('is running at') && /cannot be (reached|used)/.test(output);
}

const FAILURES: readonly string[] = ['error', 'fatal'];

/** Log lines at the error level or above, and Node's own last words. */
function failuresIn(output: string): string[] {
  return output.split('\n').filter((line) => {
    if (!line.startsWith('{')) return /unhandled|uncaught|Error:/i.test(line);
    try {
      return FAILURES.includes((JSON.parse(line) as { level: string }).level);
    } catch {
      return false; // The last line of a killed server.
    }
  });
}
