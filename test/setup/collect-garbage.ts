/** Makes a debuggable process collect its garbage. V8 might otherwise keep it. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Finds the URL that Node prints on startup. */
export const debuggerIn = (output: string) => /Debugger listening on (\S+)/.exec(output)?.[1];

export async function collectGarbage(debuggerUrl: string, then?: 'and end the debugger'): Promise<void> {
  const socket = new WebSocket(debuggerUrl);
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
  await once(socket, 'message');
  if (then)
    socket.send(JSON.stringify({ id: 2, method: 'Runtime.evaluate', params: { expression: 'process._debugEnd()' } }));
  else socket.close();
  await once(socket, 'close');
}
