/**
 * Network addresses for callers who are to count as many: Linux lets a client connect from any address in 127.0.0.0/8.
 * Who does not choose one calls from 127.0.0.1, which is none of these.
 */
export function addressOf(caller: number): string {
  return `127.${1 + ((caller >> 16) & 63)}.${(caller >> 8) & 255}.${caller & 255}`;
}
