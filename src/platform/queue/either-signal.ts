/**
 * Runs work with a signal that aborts as soon as either of two signals does. In Node 20, `AbortSignal.any` would leave
 * an entry in each of them for as long as they live, and a server's `stop` lives as long as the server.
 */
export async function withEitherSignal<T>(
  one: AbortSignal,
  other: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const abort = () => either.abort();
  const signals = [one, other];
  if (signals.some(({ aborted }) => aborted)) abort();
  for (const signal of signals) signal.addEventListener('abort', abort);
  try {
    return await work(either.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}
