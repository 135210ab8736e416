/**
 * Loaded into the server under test before the server's own code. For each connection to its socket, it forces a full
 * garbage collection, and responds with the memory usage. It needs --expose-gc, and doesn't keep the process alive.
 */
import { createServer } from 'node:net';

createServer((asker) => {
  // The second collection frees the memory that finalizers released after the first.
  globalThis.gc();
  setImmediate(() => {
    globalThis.gc();
    asker.on('error', () => {}).end(JSON.stringify(process.memoryUsage()));
  });
})
  .listen(process.env.FUZZ_MEMORY_SOCKET)
  .unref();
