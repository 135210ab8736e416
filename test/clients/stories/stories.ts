/** What all stories share: their input, and how they read responses. */
export interface Given {
  readonly baseUrl: string;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly admin: { readonly email: string; readonly password: string };
}

interface Answer<Data, Refusal> {
  readonly data?: Data | undefined;
  readonly error?: Refusal | undefined;
  readonly response?: Response | undefined;
}

/** The data of a call that must succeed. */
export function accepted<Data>({ data, error, response }: Answer<Data, unknown>): NonNullable<Data> {
  if (data === undefined || data === null) throw new Error(`${response?.url}: ${JSON.stringify(error)}`);
  return data;
}

/** The error of a call that must fail. */
export function refused<Refusal>({ data, error, response }: Answer<unknown, Refusal>): NonNullable<Refusal> {
  if (error === undefined || error === null) throw new Error(`${response?.url}: ${JSON.stringify(data)}`);
  return error;
}

export function same(value: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(value), JSON.stringify(expected)];
  if (one !== other) throw new Error(`It is ${one}, and not ${other}.`);
}

/** The address of the next page, from the Link header. */
export function nextOf(response: Response | undefined): string | undefined {
  const address = /<([^>]+)>; rel="next"/.exec(response?.headers.get('link') ?? '')?.[1];
  return address === undefined
    ? undefined
    : (new URL(address, 'http://localhost').searchParams.get('after') ?? undefined);
}

export const WORK = {
  title: 'Mend the sink',
  description: 'It drips.',
  address_line1: '1200 Barton Springs Road',
  city: 'Austin',
  state: 'TX',
  zip_code: '78704',
  category: 'plumbing',
  urgency: 'standard' as const,
  budget_min: 100,
  budget_max: 400,
};

export const PERSON = { first_name: 'Hanna', last_name: 'Hill', password: 'correct horse battery' };
