/**
 * A repair of `ws` 8.23.0. Where a write fails at once, Node still hands a stream what it has buffered behind it. A
 * receiver of `ws` that has refused a frame then goes on in the midst of it, and throws, which would end the process.
 */
import { Receiver } from 'ws';

declare module 'ws' {
  /** What reads the frames of a connection; the types of the package leave it out. */
  export const Receiver: { readonly prototype: import('node:stream').Writable };
}

const { _write: write } = Receiver.prototype;

/** Whoever writes to a stream that has failed is told of it by the failure itself. */
Receiver.prototype._write = function writeUnlessErrored(chunk, encoding, done) {
  if (this.errored) return done();
  write.call(this, chunk, encoding, done);
};
