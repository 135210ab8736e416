/**
 * How much memory the server holds: the heap and external buffers after a forced collection. The process's resident
 * memory (RSS) never shrinks and depends on when collections happen to run, so it is reported separately.
 */
import { connect } from 'node:net';

export interface Held {
  readonly heapMb: number;
  readonly outsideMb: number;
  readonly rssMb: number;
}

export const PROBE = new URL('memory-probe.mjs', import.meta.url).href;

export async function heldMemory(socketPath: string): Promise<Held> {
  const text = await new Promise<string>((resolve, reject) => {
    let said = '';
    connect(socketPath)
      .on('data', (chunk: Buffer) => (said += chunk.toString()))
      .on('error', reject)
      .on('end', () => resolve(said));
  });
  const { heapUsed, external, rss }: NodeJS.MemoryUsage = JSON.parse(text);
  return { heapMb: inMb(heapUsed), outsideMb: inMb(external), rssMb: inMb(rss) };
}

export function total({ heapMb, outsideMb }: Held): number {
  return heapMb + outsideMb;
}

export function printed({ heapMb, outsideMb, rssMb }: Held): string {
  return `heap ${heapMb.toFixed(1)} MB, outside of it ${outsideMb.toFixed(1)} MB, RSS ${rssMb.toFixed(0)} MB`;
}

function inMb(bytes: number): number {
  return bytes / 2 ** 20;
}
