import { describe, expect, test } from 'vitest';
import { ID_PREFIXES, isId, kindOfId, lowestIdSince, siblingOf } from '../../../src/market/rules/ids.js';
import type { IdKind } from '../../../src/market/rules/ids.js';
import { newId } from '../../../src/market/store/new-id.js';

/** Copied by hand from the specification and decision 2. */
const PREFIXES: [kind: IdKind, prefix: string][] = [
  ['user', 'usr'],
  ['homeowner', 'hmw'],
  ['contractor', 'ctr'],
  ['job', 'job'],
  ['bid', 'bid'],
  ['hold', 'hld'],
  ['refreshToken', 'rft'],
  ['session', 'ses'],
  ['event', 'evt'],
  ['transfer', 'ttx'],
  ['apiKey', 'key'],
  ['webhookEndpoint', 'whk'],
  ['mail', 'mal'],
  ['proposal', 'prp'],
  ['webhookDelivery', 'dlv'],
  ['review', 'rev'],
  ['viewer', 'vwr'],
  ['adminAction', 'act'],
  ['accountEvent', 'aev'],
  ['purchase', 'pur'],
  ['savedSearch', 'sea'],
];
const KSUID = '3MQ9v21sA0uS08YwvlPdPHE1hFT';

test('every kind has its prefix, and there are no other kinds', () => {
  expect(Object.entries(ID_PREFIXES).sort()).toEqual([...PREFIXES].sort());
});

describe.each(PREFIXES)('an identifier of a %s', (kind, prefix) => {
  test(`is ${prefix}_ and a KSUID, a new one each time`, () => {
    const [one, other] = [newId(kind), newId(kind)];
    expect(one).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{27}$`));
    expect(one).not.toBe(other);
    expect(isId(kind, one)).toBe(true);
  });

  test('comes after the lowest identifier for any earlier time, which is an identifier too', () => {
    const [before, id] = [Date.now(), newId(kind)];
    expect(id > lowestIdSince(kind, before)).toBe(true);
    expect(lowestIdSince(kind, before) > lowestIdSince(kind, before - 1_000)).toBe(true);
    expect(lowestIdSince(kind, before + 2_000) > id).toBe(true);
    expect(isId(kind, lowestIdSince(kind, before))).toBe(true);
  });

  test('is of this kind and of no other', () => {
    const id = `${prefix}_${KSUID}`;
    expect(kindOfId(id)).toBe(kind);
    expect(PREFIXES.filter(([candidate]) => isId(candidate, id))).toEqual([[kind, prefix]]);
  });
});

test.each<[what: string, value: unknown, is: boolean]>([
  ['a real one', `job_${KSUID}`, true],
  ['the smallest value of 20 bytes', `job_${'0'.repeat(27)}`, true],
  ['the largest value of 20 bytes', 'job_aWgEPTl1tmebfsQzFP4bxwgy80V', true],
  ['one more than 20 bytes hold', 'job_aWgEPTl1tmebfsQzFP4bxwgy80W', false],
  ['far more than 20 bytes hold', `job_${'z'.repeat(27)}`, false],
  ['a bid', `bid_${KSUID}`, false],
  ['another prefix of the same length as well', `jab_${KSUID}`, false],
  ['the prefix in capitals', `JOB_${KSUID}`, false],
  ['a hyphen for the underscore', `job-${KSUID}`, false],
  ['no prefix', KSUID, false],
  ['the prefix alone', 'job_', false],
  ['a character fewer', `job_${KSUID.slice(1)}`, false],
  ['a character more', `job_${KSUID}0`, false],
  ['a sign before', `job_!${KSUID}`, false],
  ['a sign after', `job_${KSUID}!`, false],
  ['a line break after', `job_${KSUID}\n`, false],
  ['a sign within', `job_${KSUID.slice(0, 13)}-${KSUID.slice(14)}`, false],
  ['nothing', '', false],
  ['null', null, false],
  ['no value', undefined, false],
  ['a number', 5, false],
  ['a list of one', [`job_${KSUID}`], false],
])("%s, as a job's identifier: %2$j", (_what, value, is) => {
  expect(isId('job', value)).toBe(is);
});

test.each(['', 'job', `xyz_${KSUID}`, `undefined_${KSUID}`, 'job_kitchen', `job-${KSUID}`, `usr_job_${KSUID}`])(
  '%j names nothing of any kind',
  (text) => {
    expect(kindOfId(text)).toBeUndefined();
  },
);

test('Carla’s `Viewer` has her identifier with its own prefix', () => {
  expect(siblingOf('viewer', `usr_${KSUID}`)).toBe(`vwr_${KSUID}`);
});
