/**
 * An attacker in a separate process, so it doesn't block the event loop of the measuring process. It reads the attack
 * from standard input (see attack.ts), continues for `forMs`, and prints the responses that it got. Then it exits
 * without closing its connections properly.
 */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import process from 'node:process';

const attack = JSON.parse(await textOf(process.stdin));
const { port, addresses, tokens = [], forMs } = attack;
const tally = { sent: 0, answered: 0, bytes: 0, slowestMs: 0, internal: 0, statuses: {}, events: {} };
const until = performance.now() + forMs;
let number = attack.firstNumber ?? 0;
let opened = 0;

if (attack.kind === 'calls') makeCalls(attack);
else openConnections(attack);
setTimeout(end, forMs);
process.stdout.write('begun\n');

function end() {
  process.stdout.write(JSON.stringify(tally), () => process.exit(0));
}

/**
 * Sends complete requests over node:http. Either each of a number of connections sends the next request after the
 * previous response, or requests are sent at a fixed rate without waiting for responses.
 */
function makeCalls({ requests, connections, perSecond, burst = 1, atFirst = 0, keepAlive = true }) {
  const agents = addresses.map((localAddress) => new Agent({ keepAlive, localAddress, maxSockets: Infinity }));
  let calls = 0;
  const call = () => {
    const at = calls;
    calls += 1;
    const chosen = requests[at % requests.length];
    return send(chosen, agents[at % agents.length], chosen.token ?? tokens[at % tokens.length]);
  };
  for (let at = 0; at < atFirst; at += 1) void call();
  if (perSecond) return byTheClock(call, perSecond, burst);
  for (let at = 0; at < connections; at += 1) void oneAfterAnother(call);
}

async function oneAfterAnother(call) {
  while (performance.now() < until) await call();
}

/** Sends at a fixed rate, even if the server is slow. */
function byTheClock(call, perSecond, burst) {
  const began = performance.now();
  let bursts = 0;
  setInterval(() => {
    const due = 1 + Math.floor(((performance.now() - began) / 1_000) * (perSecond / burst));
    for (; bursts < due; bursts += 1) for (let at = 0; at < burst; at += 1) void call();
  }, 5);
}

function send({ method = 'GET', path, headers = {}, body }, agent, token) {
  return new Promise((resolve) => {
    const began = performance.now();
    const text = body && numbered(body);
    const all = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, numbered(value)])),
    };
    tally.sent += 1;
    const sent = request({ host: '127.0.0.1', port, method, path: numbered(path), headers: all, agent }, (response) => {
      response.on('data', record);
      response.once('close', () => {
        tally.answered += 1;
        tally.slowestMs = Math.max(tally.slowestMs, Math.round(performance.now() - began));
        count(tally.statuses, response.statusCode);
        resolve();
      });
    });
    sent.once('error', (error) => {
      count(tally.events, error.code ?? error.message);
      setTimeout(resolve, 10);
    });
    sent.end(text);
  });
}

/** Sends bytes over node:net, in a burst or one by one, and limits how much of the response it reads. */
function openConnections({ connections, openPerSecond }) {
  if (openPerSecond) return byTheClock(openOne, openPerSecond, 1);
  for (let at = 0; at < connections; at += 1) openOne();
}

function openOne() {
  const {
    first = '',
    times = 1,
    next = '',
    nextTimes = 0,
    messages = [],
    fragments = 0,
    drip,
    take = 'all',
    hangUpAfterMs,
    byReset,
    again,
    firstLocalPort,
  } = attack;
  const at = opened;
  opened += 1;
  const token = tokens[at % tokens.length];
  const socket = connect({
    host: '127.0.0.1',
    port,
    localAddress: addresses[at % addresses.length],
    ...(firstLocalPort && { localPort: firstLocalPort + at }),
  });
  tally.sent += 1;
  const write = (text, times) => {
    const filled = text.replaceAll('@TOKEN@', token);
    if (!filled.includes('########')) return socket.write(filled.repeat(times));
    for (let i = 0; i < times; i += 1) socket.write(numbered(filled));
  };
  const timers = [];
  socket.once('connect', () => {
    count(tally.events, 'connected');
    if (first) write(first, times);
    if (next) write(next, nextTimes);
    if (drip) timers.push(setInterval(() => write(drip.text, 1), drip.everyMs));
    const hangUp = () => (byReset ? socket.resetAndDestroy() : socket.destroy());
    if (hangUpAfterMs) timers.push(setTimeout(hangUp, hangUpAfterMs));
  });
  const unsent = messages.map(framed);
  if (fragments > 0) unsent.push(fragmented(fragments));
  const sendMore = () =>
    socket.write(Buffer.concat(unsent.splice(0, unsent.length < messages.length || fragments > 0 ? Infinity : 1)));
  if (unsent.length > 0) socket.on('data', () => unsent.length > 0 && sendMore());
  readFrom(socket, take, timers);
  socket.on('error', (error) => count(tally.events, error.code ?? error.message));
  socket.once('close', () => {
    for (const timer of timers) clearInterval(timer);
    count(tally.events, 'closed');
    if (again && performance.now() < until) setTimeout(openOne, again.afterMs);
  });
}

/** A text frame as clients send it, masked with zeros (RFC 6455, 5.2). */
function framed(message) {
  const text = Buffer.from(JSON.stringify(message));
  const length = text.length < 126 ? [0x80 | text.length] : [0x80 | 126, text.length >> 8, text.length & 0xff];
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), text]);
}

/** Fragments of one byte each. The last fragment is never sent. */
function fragmented(count) {
  const frame = (opcode) => Buffer.from([opcode, 0x81, 0, 0, 0, 0, 0x20]);
  return Buffer.concat([frame(1), ...Array.from({ length: count - 1 }, () => frame(0))]);
}

function readFrom(socket, take, timers) {
  if (take === 'nothing') return socket.pause();
  const seen = (chunk) => {
    record(chunk);
    for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.[01] (\d{3}) /g)) {
      tally.answered += 1;
      count(tally.statuses, status);
    }
  };
  if (take === 'all') return socket.on('data', seen);
  socket.on('readable', () => {});
  timers.push(setInterval(() => seen(socket.read(take.bytes) ?? Buffer.alloc(0)), take.everyMs));
}

function record(chunk) {
  tally.bytes += chunk.length;
  if (chunk.includes('"INTERNAL"')) tally.internal += 1;
}

/** Replaces each run of eight `#` with a unique number, so no cache has the request. */
function numbered(text) {
  return text.includes('########') ? text.replaceAll('########', () => String((number += 1)).padStart(8, '0')) : text;
}

function count(counts, name) {
  counts[name] = (counts[name] ?? 0) + 1;
}

async function textOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
