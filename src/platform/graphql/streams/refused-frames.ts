/**
 * Repairs `ws` 8.23.0. When a write fails synchronously, Node still passes the chunks that were buffered after it to
 * the stream. A receiver of `ws` that has refused a frame would then read on in the middle of it, and throw, which
 * would end the process.
 */
import { Receiver } from 'ws';

declare module 'ws' {
  /** Parses the frames of a connection; missing from the types of the package. */
  export const Receiver: { readonly prototype: import('node:stream').Writable };
}

const { _write: write } = Receiver.prototype;

/** Ignores chunks after an error; the stream has emitted the error already. */
Receiver.prototype._write = function writeUnlessErrored(chunk, encoding, done) {
  if (this.errored) return done();
  write.call(this, chunk, encoding, done);
};
