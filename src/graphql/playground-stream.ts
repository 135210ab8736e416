/** A script of the playground: the answers of a subscription, by GraphQL-SSE, as an iterator that can be stopped. */
export const STREAM_SCRIPT = String.raw`'use strict';
const ENDED = 'The stream has ended: the server stopped, or the token expired. ' +
  'Run it again: with the position of the ' +
  'last event as “after”, nothing is missed.';

/** 'opening' requests the stream; 'renewed' returns new tokens where those that were sent have expired. */
export function stream(opening, renewed) {
  const controller = new AbortController();
  const answers = answersOf(opening, renewed, controller.signal);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => answers.next(),
    // A generator that waits for an answer would end only after that answer.
    return: async () => {
      controller.abort();
      return { done: true, value: undefined };
    },
  };
}

async function* answersOf(opening, renewed, signal) {
  try {
    let isFirst = true;
    for await (const answer of open(opening(), signal)) {
      if (isFirst && hasExpired(answer)) {
        await renewed();
        return yield* open(opening(), signal);
      }
      isFirst = false;
      yield answer;
    }
  } catch (error) {
    if (!signal.aborted) yield { errors: [{ message: error.message }] };
  }
}

export function hasExpired({ errors = [] }) {
  return errors.some(({ extensions }) => extensions?.reason === 'expired');
}

async function* open({ headers, body }, signal) {
  const sent = new Headers(headers);
  sent.set('accept', 'text/event-stream');
  sent.set('content-type', 'application/json');
  const init = { method: 'POST', headers: sent, body: JSON.stringify(body), signal };
  const response = await fetch('/graphql/stream', init);
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return yield await response.json();
  for await (const { event, data } of eventsOf(response)) {
    if (event === 'complete') return;
    if (event === 'next') yield JSON.parse(data);
  }
  throw new Error(ENDED);
}

/** A server-sent event is a field on each line, and an empty line after the event. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const events = (text + read.value).split('\n\n');
    text = events.pop();
    for (const event of events) yield Object.fromEntries(event.split('\n').map(fieldOf));
  }
}

function fieldOf(line) {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
`;
