/** An entity's description of a field is used everywhere: in both APIs' documents, and in the inputs that write it. */
import { isObjectType } from 'graphql';
import { describe, expect, it, test } from 'vitest';
import { schema } from '../../src/graphql/schema.js';
import { fieldsOfEditedJob, fieldsOfNewJob } from '../../src/market/operations/jobs/inputs.js';
import { BID, BID_REVISION } from '../../src/market/rules/entities/bid.js';
import { JOB_EVENT } from '../../src/market/rules/entities/event.js';
import { DISPUTE } from '../../src/market/rules/entities/dispute.js';
import { JOB_WITH_WARNINGS } from '../../src/rest/bodies.js';
import { JOB } from '../../src/market/rules/entities/job.js';
import { CONTRACTOR } from '../../src/market/rules/entities/people.js';
import { TOKEN_BALANCE, TOKEN_TRANSFER } from '../../src/market/rules/entities/tokens.js';
import { WEBHOOK_ATTEMPT, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../../src/market/rules/entities/webhook.js';
import { unredactedEntity, descriptionOf, entity, writtenFields } from '../../src/platform/fields/entity.js';
import { PARTIES_AND_ADMINS } from '../../src/market/rules/reading/readers.js';
import { nullableText, requiredText } from '../../src/platform/fields/values.js';
import { snake } from '../story/calls.js';
import { document } from '../story/documented.js';

const { schemas } = document().components;

const WEBHOOKS = [WEBHOOK_ENDPOINT, WEBHOOK_DELIVERY, WEBHOOK_ATTEMPT];

test.each(
  [
    JOB_WITH_WARNINGS,
    BID,
    BID_REVISION,
    JOB_EVENT,
    DISPUTE,
    CONTRACTOR,
    TOKEN_BALANCE,
    TOKEN_TRANSFER,
    ...WEBHOOKS,
  ].map((one) => [one.name, one]),
)('%s has the same fields in GraphQL and in REST, with the same words', (name, { description, fields }) => {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`${name} isn’t a GraphQL type.`);
  expect([type.description, schemas[name].description]).toEqual([description, description]);
  expect(Object.keys(schemas[name].properties)).toEqual(Object.keys(fields).map(snake));
  for (const [field, described] of Object.entries(fields)) {
    const words = descriptionOf(described);
    expect([type.getFields()[field]?.description, schemas[name].properties[snake(field)].description]).toEqual([
      words,
      words,
    ]);
  }
});

describe('a field for only some readers', () => {
  const note = { type: requiredText(100), description: 'A note.', readBy: PARTIES_AND_ADMINS };
  const noted = entity('Noted', 'Something.', { note, word: { type: nullableText(10), description: 'A word.' } });

  it('says who they are, and is null for the others', () => {
    expect(descriptionOf(note)).toBe('A note. Null for everyone except the owner, the awarded contractor, and admins.');
    expect(noted.schema.safeParse({ note: null, word: null }).success).toBe(true);
  });

  it("isn't null if everyone reads themselves", () => {
    const own = unredactedEntity(noted);
    expect(own.description).toBe('Something, as its owner sees it.');
    expect(own.schema.safeParse({ note: null, word: null }).success).toBe(false);
    expect(descriptionOf(own.fields.note)).toBe('A note.');
  });
});

it('the fields that people write on a job are those that creating and editing accept', () => {
  expect(Object.keys(fieldsOfNewJob)).toEqual(writtenFields(JOB));
  expect(Object.keys(fieldsOfEditedJob)).toEqual(writtenFields(JOB));
});
