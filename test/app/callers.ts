/** People calling a server that runs in another process. */
export interface Account {
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

export async function signUp(url: string, email: string): Promise<Account> {
  const password = 'a password for this test';
  const { status, body } = await post(url, '/v1/auth/signup/homeowner', {
    email,
    password,
    first_name: 'Hanna',
    last_name: 'of Test',
  });
  if (status !== 201) throw new Error(`${email} could not join: ${status} ${JSON.stringify(body)}`);
  return { email, password, token: String(body.token) };
}

export function logIn(
  url: string,
  email: string,
  password: string,
): Promise<{ status: number; body: Record<string, unknown> }> {
  return post(url, '/v1/auth/login', { email, password });
}

export async function readiness(url: string): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}

async function post(
  url: string,
  path: string,
  body: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
