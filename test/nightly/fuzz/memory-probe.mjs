/**
 * Loaded into the server under test before anything of its own: it answers a connection to its socket with the size of
 * the heap after a full garbage collection. It needs --expose-gc, and keeps no process alive.
 */
import { createServer } from 'node:net';

createServer((asker) => {
  // A second time for what finalizers of the first one let go.
  globalThis.gc();
  setImmediate(() => {
    globalThis.gc();
    asker.on('error', () => {}).end(JSON.stringify(process.memoryUsage()));
  });
})
  .listen(process.env.FUZZ_MEMORY_SOCKET)
  .unref();
