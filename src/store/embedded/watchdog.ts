/**
 * Ends a child when this process ends, even by kill -9: a small shell waits on a pipe that the system closes with us. A
 * word through the pipe sends it home, so that it never signals a number that is somebody else's by then.
 */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

export interface Watchdog {
  disarm(): void;
}

/** `command` is shell and sees `words` as $1, $2 and so on. */
export function armWatchdog(command: string, words: readonly string[]): Watchdog {
  const shell = spawn('/bin/sh', ['-c', `read _ || { ${command}; }`, 'sh', ...words], {
    // A session of its own, since Ctrl-C signals the whole group.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell the server would still work; the next start clears what this one leaves.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return { disarm: () => shell.stdin.end('done\n') };
}
