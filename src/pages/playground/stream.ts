/** A playground script that reads a subscription's server-sent events as an iterator that can be stopped. */
export const STREAM_SCRIPT = String.raw`'use strict';
export function stream(request) {
  const controller = new AbortController();
  const answers = answersTo(request, controller.signal);
  // A generator that waits for a result would end only after that result.
  const end = async () => (controller.abort(), { done: true, value: undefined });
  return { [Symbol.asyncIterator]() { return this; }, next: () => answers.next(), return: end };
}

const KEPT = 200;

/** Every result so far, newest first: GraphiQL shows only the last value. */
async function* answersTo({ headers, body }, signal) {
  let received = 0;
  let newestFirst = [];
  try {
    headers.set('accept', 'text/event-stream');
    const response = await fetch('/graphql/stream', { method: 'POST', headers, body: JSON.stringify(body), signal });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return yield await response.json();
    for await (const { event, data } of eventsOf(response)) {
      if (event === 'complete') return;
      if (event !== 'next') continue;
      received += 1;
      newestFirst = [JSON.parse(data), ...newestFirst].slice(0, KEPT);
      yield { received, newestFirst };
    }
    const message = 'The stream has ended. To avoid missing events, subscribe again with the last position as “after”.';
    yield { errors: [{ message }], received, newestFirst };
  } catch ({ message }) {
    if (!signal.aborted) yield { errors: [{ message }], received, newestFirst };
  }
}

/** A server-sent event has one field per line and ends with an empty line. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const events = (text + read.value).split('\n\n');
    text = events.pop();
    for (const event of events)
      yield Object.fromEntries(event.split('\n').map((line) => /^([^:]*):? ?([^]*)$/.exec(line).slice(1)));
  }
}
`;
