/** The environment of a server that the bench starts. */
export function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: this server is started by the bench.`);
  return value;
}
