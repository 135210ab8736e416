/** The server's response to a test, through either API. */

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
}

// Data from the network has no type until a test checks it.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface GraphqlAnswer {
  status: number;
  headers: Headers;
  data: Json;
  errors: { message: string; path?: (string | number)[]; extensions: Json }[] | undefined;
  extensions: Json;
}
