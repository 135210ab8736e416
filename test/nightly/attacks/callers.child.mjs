/**
 * Callers in a process of their own, so that what they do costs the server under test nothing but its answers. `reads`:
 * from one address, on so many lines, each as soon as the last is answered, or so many a second; `log-ins`: so many a
 * second, whether or not they are answered, each from an address of its own.
 */
import { Agent, request } from 'node:http';
import process from 'node:process';

const { kind, url, token, forMs, lines, perSecond, first = 0 } = JSON.parse(process.argv[2] ?? '{}');
const agent = kind === 'reads' ? new Agent({ keepAlive: true, maxSockets: lines }) : new Agent({ keepAlive: false });
const until = performance.now() + forMs;
const took = [];
const statuses = {};
let withRetryAfter = 0;

/** As in test/story/addresses.ts, which this process cannot import. */
const addressOf = (caller) => `127.${1 + ((caller >> 16) & 63)}.${(caller >> 8) & 255}.${caller & 255}`;

function call(from, method, path, headers, body) {
  return new Promise((resolve) => {
    const began = performance.now();
    const sent = request(url + path, { method, headers, agent, localAddress: addressOf(from) }, (response) => {
      response.resume();
      response.once('end', () => {
        took.push(performance.now() - began);
        statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
        if (response.headers['retry-after'] !== undefined) withRetryAfter += 1;
        resolve();
      });
    });
    sent.once('error', (error) => {
      statuses[error.code ?? 'error'] = (statuses[error.code ?? 'error'] ?? 0) + 1;
      resolve();
    });
    sent.end(body);
  });
}

const read = () => call(0, 'GET', '/v1/me', { authorization: `Bearer ${token}` });

/** Each from an address and for an account that nobody has seen before. */
function logIn(number) {
  const body = JSON.stringify({ email: `guessed.${number}@example.test`, password: 'a guess' });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return call(1 + number, 'POST', '/v1/auth/login', headers, body);
}

async function oneAfterAnother() {
  while (performance.now() < until) await read();
}

/** By the clock: a server that is slow is not asked less. */
function byTheClock(one) {
  return new Promise((resolve) => {
    const began = performance.now();
    const calls = [];
    const tick = setInterval(() => {
      const now = performance.now();
      while (calls.length < ((Math.min(now, until) - began) / 1_000) * perSecond) calls.push(one(first + calls.length));
      if (now < until) return;
      clearInterval(tick);
      // Log-ins that wait in the server's queue are not waited for.
      resolve(kind === 'reads' ? Promise.all(calls) : undefined);
    }, 5);
  });
}

if (perSecond) await byTheClock(kind === 'reads' ? read : logIn);
else await Promise.all(Array.from({ length: lines }, oneAfterAnother));
took.sort((a, b) => a - b);
const at = (share) => took[Math.min(took.length - 1, Math.floor(took.length * share))];
process.stdout.write(
  JSON.stringify({ answered: took.length, p50: at(0.5), p99: at(0.99), statuses, withRetryAfter }),
  () => process.exit(0),
);
