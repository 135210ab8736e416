/** The servers of a run: real processes on one database, each with a port that it keeps from one life to the next. */
import type { Clone } from '../../start/clone.js';
import { startServer, type Environment, type Started } from '../../start/processes.js';

export interface Instances {
  readonly urls: readonly string[];
  /** Resolves once it has ended. */
  kill(instance: number): Promise<void>;
  /** Resolves once it is open again. */
  revive(instance: number): Promise<void>;
  /** Every ending that nobody asked for, and every line that tells of a failure inside. */
  complaints(): string[];
  stop(): Promise<void>;
}

export async function openInstances(project: Clone, count: number, environment: Environment): Promise<Instances> {
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
    if (!expected.has(life.pid))
      complaints.push(`Instance ${instance} ended by itself (${signal ?? code}) and said:\n${output.slice(-3_000)}`);
    complaints.push(...failuresIn(output).map((line) => `Instance ${instance} logged: ${line}`));
  }

  const urls: string[] = [];
  for (let instance = 0; instance < count; instance += 1) urls.push(await begin(instance, '0').url);
  const end = async (instance: number, signal: NodeJS.Signals) => {
    const life = lives[instance];
    if (!life) return;
    expected.add(life.pid);
    await life.stop(signal);
  };
  return {
    urls,
    kill: (instance) => end(instance, 'SIGKILL'),
    revive: async (instance) => void (await begin(instance, new URL(urls[instance] ?? '').port).url),
    complaints: () => complaints,
    stop: async () => {
      await Promise.all(lives.map((_, instance) => end(instance, 'SIGTERM')));
    },
  };
}

const FAILURES: readonly string[] = ['error', 'fatal'];

/** Lines of the log at the level of an error, and whatever Node itself says before it gives up. */
function failuresIn(output: string): string[] {
  return output.split('\n').filter((line) => {
    if (!line.startsWith('{')) return /unhandled|uncaught|Error:/i.test(line);
    try {
      return FAILURES.includes((JSON.parse(line) as { level: string }).level);
    } catch {
      return false; // The last line of one that was killed.
    }
  });
}
