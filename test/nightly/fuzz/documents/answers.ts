/** Server responses in a form that can be compared. */
import ksuid from 'ksuid';
import type { Json } from '../../../setup/app.js';
import { BY_GRAPHQL_JS } from '../../../setup/plans.js';
import type { Asking } from './askings.js';
import { baseHeaders } from '../requests/draft.js';
import { SOME_FAIL } from './failing-fields.js';
import { jsonText } from '../requests/json-text.js';
import { bytesOf } from '../requests/requests.js';
import type { Line } from '../wire.js';

export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

let asked = 0;

/** A new value each time. Apollo always handles such a request itself, so none of our shortcuts apply. */
const acceptedNowhere = () => `application/json;q=0.${(asked += 1)}`;

/** Mutations are dry runs. They change nothing, so repeating one gives the same response. */
export async function answerTo(
  line: Line,
  query: string,
  { token, variables, operationName, someFail }: Asking,
  began: number,
): Promise<Answer> {
  const changes = /\bmutation\b/.test(query);
  const headers = [
    ...baseHeaders(token, true),
    ['X-Request-Id', someFail ? SOME_FAIL : 'compared'] as const,
    ...(changes ? [['Dry-Run', 'true'] as const] : []),
    ...(query.endsWith(BY_GRAPHQL_JS) ? [['Accept', acceptedNowhere()] as const] : []),
  ];
  const body = Buffer.from(jsonText({ query, variables, operationName }));
  const reply = await line.ask(bytesOf({ kind: 'graphql', method: 'POST', target: '/graphql', headers, body }), 'POST');
  const text = inOneOrder(reply.body.toString());
  return {
    status: reply.status,
    contentType: reply.headers.get('content-type'),
    text: changes ? withoutNews(text, began) : text,
  };
}

export function sameAnswer(one: Answer, other: Answer): boolean {
  return one.status === other.status && one.contentType === other.contentType && one.text === other.text;
}

/** The response without the errors that made more than their own field null, and those errors. */
export function withoutWide({ status, contentType, text }: Answer): { rest: string; wide: readonly string[] } {
  const answer: Json = JSON.parse(text);
  const errors: Json[] = answer.errors ?? [];
  const isWide = ({ path }: Json) => path !== undefined && nullAbove(path, answer.data) !== undefined;
  const holders = new Set(errors.filter(isWide).map(({ path }) => JSON.stringify(nullAbove(path, answer.data))));
  // The number of further errors also depends on timing.
  const { errorsLeftOut, ...extensions } = answer.extensions ?? {};
  const rest = {
    status,
    contentType,
    ...answer,
    extensions: holders.size > 0 ? extensions : { ...extensions, errorsLeftOut },
    errors: errors.filter((error) => !isWide(error)),
    holders: [...holders].toSorted(),
  };
  return { rest: JSON.stringify(rest), wide: errors.filter(isWide).map((error) => JSON.stringify(error)) };
}

/** The path above a field where its data is null. */
function nullAbove(path: readonly (string | number)[], data: Json): readonly (string | number)[] | undefined {
  let value = data;
  for (const [at, step] of path.entries()) {
    if (value === null) return path.slice(0, at);
    value = value?.[step];
  }
  return undefined;
}

/** Fields run in parallel, so errors come in any order. A single error, and all data, are compared byte for byte. */
function inOneOrder(text: string): string {
  const answer: Json = JSON.parse(text);
  if ((answer.errors?.length ?? 0) < 2) return text;
  const order = (error: Json) => JSON.stringify(error);
  const errors = (answer.errors as Json[]).toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
  return `${JSON.stringify({ ...answer, errors })}\n`;
}

/** A dry run creates new IDs and times on every run, so new IDs are numbered in order of appearance. */
function withoutNews(text: string, began: number): string {
  const names = new Map<string, string>();
  const numbered = (id: string): string => {
    const name = names.get(id) ?? `new ${id.slice(0, 3)} ${names.size}`;
    names.set(id, name);
    return name;
  };
  const isNew = (id: string) =>
    id <= `${id.slice(0, 4)}${LARGEST_KSUID}` &&
    ksuid.parse(id.slice(4)).date.getTime() >= Math.floor(began / 1_000) * 1_000;
  return text
    .replaceAll(/"W[\w-]{10,}"/g, (cursor) => JSON.stringify(Buffer.from(cursor, 'base64url').toString()))
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'a token')
    .replaceAll(/whsec_[\w+/]+=*|jmk_\w{40}/g, 'a secret')
    .replaceAll(/\b[a-z]{3}_[0-9A-Za-z]{27}\b/g, (id) => (isNew(id) ? numbered(id) : id))
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{13}\b/g, (time) =>
      Number(time) >= began || Date.parse(time) >= began ? 'now' : time,
    );
}

const LARGEST_KSUID = 'aWgEPTl1tmebfsQzFP4bxwgy80V';
