import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  descriptionOf,
  entity,
  entityOf,
  inputDescriptionOf,
  requiredFields,
  settledFields,
  unredactedEntity,
  writtenFields,
} from '../../../src/platform/fields/entity.js';
import { identifier } from '../../../src/market/rules/id-fields.js';

const FRIEND = entity('Friend', 'Somebody from St. Albans.', {
  id: identifier('user'),
  name: { type: z.string(), description: 'The name, St. included.', written: true },
  phone: {
    type: z.string(),
    description: 'The number, no. 5 for one.',
    readBy: { relations: ['self'], words: 'the friend' },
    written: true,
  },
  nickname: {
    type: z.string().nullable(),
    description: 'How they are called.',
    inputDescription: 'How to call them.',
    written: true,
  },
  role: { type: z.string(), description: 'The role.', written: 'at sign-up' },
});
const { name, phone, nickname, id } = FRIEND.fields;
const fred = { id: 'usr_3MQ9v21sA0uS08YwvlPdPHE1hFT', name: 'Fred', phone: '512', nickname: null, role: 'friend' };

describe('a friend', () => {
  const reads = (row: object) => FRIEND.schema.safeParse(row).success;

  test('is read whole, or without what is not for the reader', () => {
    expect(reads(fred)).toBe(true);
    expect(reads({ ...fred, phone: null })).toBe(true);
  });

  test('is no friend without a name, with a field besides, or under the identifier of a job', () => {
    expect(reads({ ...fred, name: null })).toBe(false);
    expect(reads({ ...fred, age: 5 })).toBe(false);
    expect(reads({ ...fred, id: 'job_3MQ9v21sA0uS08YwvlPdPHE1hFT' })).toBe(false);
    expect(id.description).toContain('`usr_`');
  });

  test('has a name, which is not left out, and other fields that people write or do not', () => {
    expect(writtenFields(FRIEND)).toEqual(['name', 'phone', 'nickname']);
    expect(requiredFields(FRIEND)).toEqual(['name', 'phone']);
    expect(settledFields(FRIEND)).toEqual(['id', 'role']);
  });

  test('as they read themselves has nothing to hide', () => {
    const self = unredactedEntity(FRIEND);
    expect(self).toMatchObject({
      name: 'Friend',
      description: 'Somebody from St. Albans, as they read it themselves.',
    });
    expect(self.fields.phone).toEqual({ type: phone.type, description: phone.description, written: true });
    expect(self.schema.safeParse(fred).success).toBe(true);
    expect(self.schema.safeParse({ ...fred, phone: null }).success).toBe(false);
  });

  test('is known by the schema, as no other object is', () => {
    expect(entityOf(FRIEND.schema)).toBe(FRIEND);
    expect(() => entityOf(z.strictObject({}))).toThrow('no entity');
  });
});

test('whoever reads about a field learns who else may read it', () => {
  expect(descriptionOf(name)).toBe('The name, St. included.');
  expect(descriptionOf(phone)).toBe('The number, no. 5 for one; null for all but the friend.');
});

test('whoever writes a field learns that it is private, or what is said to writers alone', () => {
  expect(inputDescriptionOf(name)).toBe('The name, St. included.');
  expect(inputDescriptionOf(phone)).toBe('The number, no. 5 for one; private.');
  expect(inputDescriptionOf(nickname)).toBe('How to call them.');
});
