/** A script of the playground: the answers of a subscription, by GraphQL-SSE, as an iterator that can be stopped. */
export const STREAM_SCRIPT = String.raw`'use strict';
export function stream(request) {
  const controller = new AbortController();
  const answers = answersTo(request, controller.signal);
  // A generator that waits for an answer would end only after that answer.
  const end = async () => (controller.abort(), { done: true, value: undefined });
  return { [Symbol.asyncIterator]() { return this; }, next: () => answers.next(), return: end };
}

async function* answersTo({ headers, body }, signal) {
  try {
    headers.set('accept', 'text/event-stream');
    const response = await fetch('/graphql/stream', { method: 'POST', headers, body: JSON.stringify(body), signal });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return yield await response.json();
    for await (const { event, data } of eventsOf(response)) {
      if (event === 'complete') return;
      if (event === 'next') yield JSON.parse(data);
    }
    yield { errors: [{ message: 'The stream has ended. With the last position as “after”, nothing is missed.' }] };
  } catch ({ message }) {
    if (!signal.aborted) yield { errors: [{ message }] };
  }
}

/** A server-sent event is a field on each line, and an empty line after the event. */
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
