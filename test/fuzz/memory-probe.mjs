/**
 * Loaded into the server under test before anything of its own: whoever connects to the socket hears what is left on
 * the heap after everything that can be collected has been. It needs --expose-gc, and keeps nobody alive.
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
