/**
 * Network addresses for callers that must count as separate. Linux lets a client connect from any address in
 * 127.0.0.0/8. By default, callers use 127.0.0.1, which isn't one of these.
 */
export function addressOf(caller: number): string {
  return `127.${1 + ((caller >> 16) & 63)}.${(caller >> 8) & 255}.${caller & 255}`;
}
