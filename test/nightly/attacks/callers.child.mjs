/**
 * Callers in a separate process, so the server under test only spends time on its responses. `reads` come from one
 * address: either each of a number of connections sends the next read after the previous response, or reads are sent at
 * a fixed rate. `logins` are sent at a fixed rate, whether or not they get a response, each from a separate address.
 */
import { Agent, request } from 'node:http';
import process from 'node:process';

const { kind, url, token, forMs, lines, perSecond, first = 0 } = JSON.parse(process.argv[2] ?? '{}');
const agent = kind === 'reads' ? new Agent({ keepAlive: true, maxSockets: lines }) : new Agent({ keepAlive: false });
const until = performance.now() + forMs;
const took = [];
const statuses = {};
let withRetryAfter = 0;

/** As in test/story/addresses.ts, which this process can't import. */
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

/** Each login is from a new address and for a new account. */
function logIn(number) {
  const body = JSON.stringify({ email: `guessed.${number}@example.test`, password: 'a guess' });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return call(1 + number, 'POST', '/v1/auth/login', headers, body);
}

async function oneAfterAnother() {
  while (performance.now() < until) await read();
}

/** Sends at a fixed rate, even if the server is slow. */
function byTheClock(one) {
  return new Promise((resolve) => {
    const began = performance.now();
    const calls = [];
    const tick = setInterval(() => {
      const now = performance.now();
      while (calls.length < ((Math.min(now, until) - began) / 1_000) * perSecond) calls.push(one(first + calls.length));
      if (now < until) return;
      clearInterval(tick);
      // Doesn't wait for logins that are in the server's queue.
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
