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

const FRIEND = entity('Friend', 'Someone from St. Albans.', {
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

  test("is read whole, or without the fields that its reader can't see", () => {
    expect(reads(fred)).toBe(true);
    expect(reads({ ...fred, phone: null })).toBe(true);
  });

  test("isn't valid without a name, with an extra field, or with a job's identifier", () => {
    expect(reads({ ...fred, name: null })).toBe(false);
    expect(reads({ ...fred, age: 5 })).toBe(false);
    expect(reads({ ...fred, id: 'job_3MQ9v21sA0uS08YwvlPdPHE1hFT' })).toBe(false);
    expect(id.description).toContain('`usr_`');
  });

  test("has a required name, and other fields that people write or don't", () => {
    expect(writtenFields(FRIEND)).toEqual(['name', 'phone', 'nickname']);
    expect(requiredFields(FRIEND)).toEqual(['name', 'phone']);
    expect(settledFields(FRIEND)).toEqual(['id', 'role']);
  });

  test('has nothing to hide from itself', () => {
    const self = unredactedEntity(FRIEND);
    expect(self).toMatchObject({ name: 'Friend', description: 'Someone from St. Albans, as its owner sees it.' });
    expect(self.fields.phone).toEqual({ type: phone.type, description: phone.description, written: true });
    expect(self.schema.safeParse(fred).success).toBe(true);
    expect(self.schema.safeParse({ ...fred, phone: null }).success).toBe(false);
  });

  test('is recognized by its schema, as no other object is', () => {
    expect(entityOf(FRIEND.schema)).toBe(FRIEND);
    expect(() => entityOf(z.strictObject({}))).toThrow('not an entity');
  });
});

test('the description of a field says who else may read it', () => {
  expect(descriptionOf(name)).toBe('The name, St. included.');
  expect(descriptionOf(phone)).toBe('The number, no. 5 for one. Null for everyone except the friend.');
});

test('the description for writers says that the field is private, or uses their own text', () => {
  expect(inputDescriptionOf(name)).toBe('The name, St. included.');
  expect(inputDescriptionOf(phone)).toBe('The number, no. 5 for one. Private.');
  expect(inputDescriptionOf(nickname)).toBe('How to call them.');
});
