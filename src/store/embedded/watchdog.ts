/**
 * Ends a child when this process ends, even by kill -9: a small shell waits on a pipe that the system closes when this
 * process ends. A line through the pipe ends the shell, so that it never signals a process id that has been reused.
 */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

export interface Watchdog {
  disarm(): void;
}

/** `command` is shell and sees `words` as $1, $2 and so on. */
export function armWatchdog(command: string, words: readonly string[]): Watchdog {
  const shell = spawn('/bin/sh', ['-c', `read _ || { ${command}; }`, 'sh', ...words], {
    // A separate session, since Ctrl-C signals the whole process group.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell the server still works; the next start cleans up after this one.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return { disarm: () => shell.stdin.end('done\n') };
}
