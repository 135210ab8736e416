/** Lists the maximum length of every string in a response, and checks that each flat page stays within its cost. */
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isObjectType,
  isScalarType,
  parse,
  type GraphQLField,
  type GraphQLObjectType,
  type OperationDefinitionNode,
} from 'graphql';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { measureOperation } from '../../src/platform/graphql/limits/measure.js';
import { graphOf } from '../../src/graphql/graph.js';
import { schema } from '../../src/graphql/schema.js';
import { OPERATIONS } from '../../src/market/operations/index.js';
import { JOB_TRANSITIONS } from '../../src/market/rules/lifecycle.js';
import { COST_BYTES, GRAPHQL_LIMITS, PAGE } from '../../src/platform/caller-limits.js';

const { texts: TEXT_CHARACTERS } = graphOf(schema);
const objects = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type))
  .filter(({ name }) => !name.startsWith('__'));
const fieldsOf = (type: GraphQLObjectType) => Object.values(type.getFields());
const fieldNamed = (type: GraphQLObjectType, name: string) => type.getFields()[name] as GraphQLField<unknown, unknown>;

/**
 * Strings that the service chooses, with at most 300 characters each. Lists of them are no longer than the tables that
 * they come from.
 */
const SESSION = ['refreshToken', 'token'];
const SHORT: Readonly<Record<string, readonly string[]>> = {
  AvailableAction: ['message', 'missingFields'],
  AvailableBidAction: ['message'],
  // The payment provider chooses this URL. A mutation returns one.
  BuyTokensPayload: ['checkoutUrl'],
  Catalog: ['businessTypes', 'categories', 'propertyTypes'],
  CreateApiKeyPayload: ['secret'],
  CreateWebhookEndpointPayload: ['secret'],
  JobEvent: ['fields'],
  JobWarning: ['field'],
  Lifecycle: ['requiredToPublish'],
  LifecycleAction: ['by', 'description', 'effects', 'event', 'operation'],
  LifecycleBidAction: ['by', 'description', 'operation'],
  LifecycleBidConsequence: ['when'],
  LifecycleDeadline: ['countedFrom', 'description', 'extendedBy'],
  LifecycleReminder: ['to'],
  PageInfo: ['endCursor', 'startCursor'],
  LogInPayload: SESSION,
  MarkNotificationsReadPayload: ['readUpTo'],
  RefreshSessionPayload: SESSION,
  ReplayEventsPayload: ['nextAfter'],
  RotateWebhookSecretPayload: ['secret'],
  SignUpContractorPayload: SESSION,
  SignUpHomeownerPayload: SESSION,
  TokenTransfer: ['fromAccount', 'toAccount'],
  UpcomingAction: ['unless'],
  VerifyEmailPayload: ['email'],
  Viewer: ['referralCode'],
};

describe('every string in the schema', () => {
  const texts = objects.flatMap((type) =>
    fieldsOf(type)
      .filter((field) => ['String', 'JSON'].includes(getNamedType(field.type).name))
      .map(({ name }) => [type.name, name] as const),
  );

  test.each(texts)('%s.%s has a maximum length, or is known to be short', (type, field) => {
    const isShort = SHORT[type]?.includes(field) === true || (type.endsWith('Edge') && field === 'cursor');
    expect(TEXT_CHARACTERS[type]?.[field] !== undefined).toBe(!isShort);
  });

  it("exists: no maximum length is for a string that the schema doesn't have", () => {
    const listed = Object.entries(TEXT_CHARACTERS).flatMap(([type, lengths]) =>
      Object.keys(lengths).map((field) => `${type}.${field}`),
    );
    expect(listed.filter((one) => !texts.some(([type, field]) => `${type}.${field}` === one))).toEqual([]);
  });
});

type JsonSchema = {
  type?: string;
  maxLength?: number;
  maxItems?: number;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
};

/** The maximum length that an input allows for a string, or for all strings in a list. */
function charactersIn({ anyOf, items, maxItems = Infinity, maxLength, type }: JsonSchema): number {
  if (anyOf) return Math.max(...anyOf.map(charactersIn));
  if (items) return maxItems * charactersIn(items);
  return type === 'string' ? (maxLength ?? 0) : 0;
}

function lengthsIn(operation: keyof typeof OPERATIONS, part?: string): Map<string, number> {
  const whole = z.toJSONSchema(OPERATIONS[operation].input, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const inner =
    part === undefined
      ? whole
      : (whole.properties?.[part]?.anyOf?.find(({ properties }) => properties) ?? whole.properties?.[part]);
  return new Map(Object.entries(inner?.properties ?? {}).map(([name, schema]) => [name, charactersIn(schema)]));
}

describe('the lengths', () => {
  test.each<[type: string, operation: keyof typeof OPERATIONS, part?: string]>([
    ['Job', 'createJob'],
    ['Job', 'updateJob'],
    ['Bid', 'submitBid'],
    ['User', 'signUpContractor'],
    ['User', 'updateProfile', 'user'],
    ['Homeowner', 'updateProfile', 'homeowner'],
    ['Contractor', 'updateProfile', 'contractor'],
    ['Contractor', 'signUpContractor'],
    ['Dispute', 'disputeJob'],
    ['DisputeProposal', 'resolveDispute'],
    ['DisputeDecision', 'reachDecision'],
    ['DisputeFinalDecision', 'finalizeAppeal'],
  ])('of %s are those that %s allows', (type, operation, part) => {
    const allowed = lengthsIn(operation, part);
    const shared = Object.entries(TEXT_CHARACTERS[type] ?? {}).filter(([field]) => (allowed.get(field) ?? 0) > 0);
    expect(shared.length).toBeGreaterThan(0);
    for (const [field, characters] of shared) expect([field, characters]).toEqual([field, allowed.get(field)]);
  });

  test.each<[type: string, field: string, operation: keyof typeof OPERATIONS, input: string]>([
    ['DisputeEscalation', 'reason', 'escalateJob', 'escalationReason'],
    ['DisputeAppeal', 'reason', 'fileAppeal', 'appealReason'],
    ['DisputeAppeal', 'supportingEvidence', 'fileAppeal', 'supportingEvidence'],
    ['DisputeEnd', 'text', 'resolveDispute', 'resolution'],
    ['DisputeEnd', 'text', 'finalizeAppeal', 'finalDecision'],
    ['DisputeEnd', 'text', 'completeJob', 'reason'],
    ['TokenTransfer', 'note', 'adjustTokens', 'reason'],
    ['Review', 'review', 'approveJob', 'review'],
    ['Review', 'category', 'createJob', 'category'],
    ['Review', 'homeownerFirstName', 'signUpHomeowner', 'firstName'],
  ])('of %s.%s is the same as of %s', (type, field, operation, input) => {
    expect(TEXT_CHARACTERS[type]?.[field]).toBe(lengthsIn(operation).get(input));
  });

  it("of an event's data are at least the total length of all strings in any transition", () => {
    const transitions = Object.values(JOB_TRANSITIONS).map(({ operation }) =>
      [...lengthsIn(operation).values()].reduce((total, one) => total + one, 0),
    );
    expect(Math.max(...transitions)).toBe(TEXT_CHARACTERS.JobEvent?.data);
  });
});

const plainFields = (type: GraphQLObjectType) =>
  fieldsOf(type)
    .filter((field) => !isObjectType(getNamedType(field.type)))
    .map(({ name }) => name);
const isConnection = (type: GraphQLObjectType) => type.name.endsWith('Connection');

function costOfDocument(document: string): number {
  const parsed = parse(document);
  return measureOperation(graphOf(schema), parsed, parsed.definitions[0] as OperationDefinitionNode).cost({});
}

/** Selects everything in an object, and in the objects up to this many levels below. */
function wholeSelection(type: GraphQLObjectType, levels: number): string {
  const inner =
    levels === 0
      ? []
      : fieldsOf(type).flatMap(({ name, type: of }) => {
          const named = getNamedType(of);
          if (!isObjectType(named)) return [];
          const node = isConnection(named) && getNamedType(fieldNamed(named, 'nodes').type);
          if (!node) return [`${name} { ${wholeSelection(named, levels - 1)} }`];
          return [`${name} { totalCount nodes { ${wholeSelection(node as GraphQLObjectType, levels - 1)} } }`];
        });
  return ['__typename', ...plainFields(type), ...inner].join(' ');
}

/** The maximum size of a short value with its name. */
function bytesOfShort(type: GraphQLObjectType, { name, type: of }: GraphQLField<unknown, unknown>): number {
  const named = getNamedType(of);
  const choices = isEnumType(named) ? named.getValues().map((one) => one.name.length + 2) : [];
  const isText = TEXT_CHARACTERS[type.name]?.[name] !== undefined;
  const value = isText ? 2 : Math.max(0, ...choices) || VALUE_BYTES[named.name] || 0;
  const isListOfNames = !isText && isListType(getNullableType(of));
  return `"${name}":,`.length + (isListOfNames ? NAMES_BYTES_MAX : value);
}

const VALUE_BYTES: Readonly<Record<string, number>> = {
  ID: 34,
  Int: 11,
  Float: 24,
  Boolean: 5,
  Date: 12,
  DateTime: 26,
  String: 302,
  URL: 2,
};
/** The bytes around an object: its longest name, and its cursor in a page. */
const NAME_AND_CURSOR_BYTES = 300;
const NAMES_BYTES_MAX = 500;
/** Each field selects these types once at most, and they take only a few kilobytes. */
const isConstant = ({ name }: GraphQLObjectType) => /^(Lifecycle|Catalog)/.test(name);

test.each(objects.filter((type) => !isConstant(type)))('%s takes at most one point without its strings', (type) => {
  const bytes = fieldsOf(type)
    .filter(({ type: of }) => !isObjectType(getNamedType(of)))
    .reduce((total, field) => total + bytesOfShort(type, field), '{"__typename":"",}'.length + type.name.length);
  expect(bytes).toBeLessThanOrEqual(COST_BYTES.point - NAME_AND_CURSOR_BYTES);
});

describe('a flat page of the largest size', () => {
  const pages = objects.flatMap((type) =>
    fieldsOf(type)
      .filter((field) => isConnection(getNamedType(field.type) as GraphQLObjectType))
      .map((field) => [type, field] as const),
  );
  const WITHIN: Readonly<Record<string, (page: string) => string>> = {
    Query: (page) => `{ ${page} }`,
    Viewer: (page) => `{ viewer { ${page} } }`,
    Job: (page) => `{ job(id: "job_x") { ${page} } }`,
    Bid: (page) => `{ node(id: "bid_x") { ... on Bid { ${page} } } }`,
    Contractor: (page) => `{ contractor(id: "ctr_x") { ${page} } }`,
    User: (page) => `{ viewer { user { ${page} } } }`,
    WebhookEndpoint: (page) => `{ webhookEndpoint(id: "whk_x") { ${page} } }`,
  };

  it('appears in every place that has a list', () => {
    expect(pages.length).toBeGreaterThanOrEqual(6);
  });

  test.each(pages.map(([type, field]) => [`${type.name}.${field.name}`, type, field] as const))(
    '%s fits with all its plain fields',
    (_name, type, field) => {
      const node = getNamedType(
        fieldNamed(getNamedType(field.type) as GraphQLObjectType, 'nodes').type,
      ) as GraphQLObjectType;
      for (const nodes of [
        `nodes { ${wholeSelection(node, 0)} }`,
        `edges { cursor node { ${wholeSelection(node, 0)} } }`,
      ]) {
        const page =
          `${field.name}(first: ${PAGE.perPageMax}) { totalCount pageInfo ` +
          `{ ${plainFields(schema.getType('PageInfo') as GraphQLObjectType).join(' ')} } ${nodes} }`;
        expect(costOfDocument((WITHIN[type.name] as (page: string) => string)(page))).toBeLessThanOrEqual(
          GRAPHQL_LIMITS.cost,
        );
      }
    },
  );
});

test.each(fieldsOf(schema.getMutationType() as GraphQLObjectType).map((field) => [field.name, field] as const))(
  'the result of %s may be selected completely, one level deep',
  (name, { type }) => {
    const payload = getNamedType(type);
    const selection = isScalarType(payload) ? '' : `{ ${wholeSelection(payload as GraphQLObjectType, 2)} }`;
    expect(costOfDocument(`mutation { ${name} ${selection} }`)).toBeLessThanOrEqual(GRAPHQL_LIMITS.cost);
  },
);
