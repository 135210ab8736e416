/** What the server answered to a test, by either API. */

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
}

// What comes over the wire has no type until a test has looked at it.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface GraphqlAnswer {
  status: number;
  headers: Headers;
  data: Json;
  errors: { message: string; path?: (string | number)[]; extensions: Json }[] | undefined;
  extensions: Json;
}
