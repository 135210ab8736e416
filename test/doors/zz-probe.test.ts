import { it } from 'vitest';
import { openTestHouse } from '../house.js';
it('probe', async () => {
  const house = await openTestHouse({ LOG_LEVEL: 'trace' });
  const show = async (name: string, path: string, init: any) => {
    try {
      const r = await fetch(house.url + path, { ...init, signal: AbortSignal.timeout(3000) });
      console.log(name, r.status, r.headers.get('connection'), (await r.text()).slice(0, 300));
    } catch (e: any) { console.log(name, 'THREW', e.message, e.cause?.message); }
  };
  const J = { 'content-type': 'application/json' };
  await show('gzip first', '/v1/auth/login', { method: 'POST', headers: { ...J, 'content-encoding': 'gzip' }, body: 'x' });
  await show('after gzip', '/healthz', {});
  await show('big 404', '/v1/nothing', { method: 'POST', headers: J, body: ' '.repeat(3_000_000) });
  await show('after 404', '/healthz', {});
  await show('big gql', '/graphql', { method: 'POST', headers: J, body: ' '.repeat(140_000) });
  await show('after big gql', '/healthz', {});
  await show('gzip', '/v1/auth/login', { method: 'POST', headers: { ...J, 'content-encoding': 'gzip' }, body: 'x' });
  const big2 = new ReadableStream({ start(c) { for (let i = 0; i < 20; i++) c.enqueue(new Uint8Array(10_000).fill(32)); c.close(); } });
  await show('chunked big gql', '/graphql', { method: 'POST', headers: J, body: big2, duplex: 'half' });
  await show('after big gql', '/healthz', {});
  await show('gzip', '/v1/auth/login', { method: 'POST', headers: { ...J, 'content-encoding': 'gzip' }, body: 'x' });
  for (const n of [100, 500, 1000, 1500, 2000, 2500]) {
    await show('deep q' + n, '/graphql', { method: 'POST', headers: J, body: JSON.stringify({ query: '{viewer'.repeat(n) + '}'.repeat(n) }) });
    await show('deep f' + n, '/graphql', { method: 'POST', headers: J, body: JSON.stringify({ query: '{' + '...{'.repeat(n) + '__typename' + '}'.repeat(n) + '}' }) });
    await show('deep l' + n, '/graphql', { method: 'POST', headers: J, body: JSON.stringify({ query: '{ contractor(id: ' + '['.repeat(n) + ']'.repeat(n) + ') { id } }' }) });
  }
  console.log(house.logged.filter((l) => /"level":(50|40)/.test(l)).join(''));
  await house.close();
}, 60000);
