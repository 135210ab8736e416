/** GraphQL documents generated from the schema. Every field exists, and every argument fits. */
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  getNamedType,
  GraphQLBoolean,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
} from 'graphql';
import { inGraphql } from '../../../story/calls.js';
import { snakeCase } from '../../../story/specified.js';
import type { Dice } from '../../../setup/random/dice.js';
import { documented, prepare } from '../requests/operations.js';
import type { Selected } from '../requests/requests.js';
import { EVERYBODY, type Stock, type Who } from '../requests/stock.js';

export const schema = buildSchema(readFileSync(new URL('../../../../schema/api.graphql', import.meta.url), 'utf8'));

const [QUERY, MUTATION] = [schema.getQueryType(), schema.getMutationType()].map((type) => {
  if (!type) throw new Error('The schema has lost its roots.');
  return type;
}) as [GraphQLObjectType, GraphQLObjectType];

export interface Written {
  readonly text: string;
  readonly variables: Record<string, unknown>;
  readonly operationName: string | undefined;
  readonly selected: readonly Selected[];
  readonly token: string | undefined;
  readonly isMutation: boolean;
}

/** Every field that a document can execute: `Job.title`, `Query.jobs`. */
export const ALL_FIELDS: readonly string[] = Object.values(schema.getTypeMap())
  .filter((type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'))
  .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));

/** Nested lists are short, so a document's cost stays within the limit. */
const ENTRIES_MAX = 3;
const ALIASES_MAX = 12;
const DIRECTIVES_MAX = 8;

/** What a document has used up and declared while it is being written. */
class Writing {
  readonly variables: Record<string, unknown> = {};
  readonly declared: string[] = [];
  readonly fragments: string[] = [];
  private aliases = 0;
  private directives = 0;

  /** `mark` keeps new names distinct from the names in the document that will include them. */
  constructor(
    readonly dice: Dice,
    readonly stock: Stock,
    private readonly who: Who | undefined,
    private readonly job: string,
    private readonly mark = '',
  ) {}

  /** The selection between a type's braces. The object of an interface or a union has a known type, or any of them. */
  select(type: GraphQLNamedType, depth: number, known?: GraphQLObjectType): { text: string; selected: Selected[] } {
    if (isAbstractType(type)) {
      const one = known ?? this.dice.pick(schema.getPossibleTypes(type));
      const inner = this.select(one, depth);
      return {
        text: `__typename ... on ${one.name} { ${inner.text} }`,
        selected: inner.selected.map((field) => ({ ...field, on: one.name })),
      };
    }
    if (!isObjectType(type)) throw new Error(`${type.name} has no fields to select.`);
    const fields = Object.values(type.getFields()).filter(
      (field) => depth > 0 || isLeafType(getNamedType(field.type)) || isFlat(getNamedType(field.type)),
    );
    const further = fields.filter((field) => !isLeafType(getNamedType(field.type)));
    const wanted = isFlat(type)
      ? fields
      : this.dice.some(fields, Math.max(8, 250 / Math.max(fields.length, 1))).slice(0, 8);
    // Most fields are leaves, so a random choice would hardly ever reach the objects behind the others.
    const led = further.length > 0 && this.dice.percent(50) ? [this.dice.pick(further)] : [];
    const sparse = wanted.length === 0 && fields.length > 0 && this.dice.percent(90) ? [this.dice.pick(fields)] : [];
    const chosen = [...new Set([...led, ...wanted, ...sparse])];
    const written = chosen.map((field) => this.field(type, field, depth));
    const text = written.map((one) => one.text).join(' ') || '__typename';
    return { text: this.wrapped(type, text), selected: written.map(({ selected }) => selected) };
  }

  field(
    parent: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    depth: number,
    args?: Record<string, unknown>,
  ): { text: string; selected: Selected } {
    const named = getNamedType(field.type);
    const key =
      this.dice.percent(8) && (this.aliases += 1) <= ALIASES_MAX
        ? `${field.name}_${this.mark}${this.aliases}`
        : field.name;
    const node = field.name === 'node' ? this.anyNode() : undefined;
    const inner = isLeafType(named) ? undefined : this.select(named, depth - 1, node?.type);
    const passed = this.passed(parent, field, node ? { id: node.id } : args);
    const text = `${key === field.name ? key : `${key}: ${field.name}`}${passed}${this.directive()}${
      inner ? ` { ${inner.text} }` : ''
    }`;
    return { text, selected: { key, field: `${parent.name}.${field.name}`, inner: inner?.selected ?? [] } };
  }

  private wrapped(type: GraphQLObjectType, text: string): string {
    if (this.dice.percent(8)) return `... on ${type.name} { ${text} }`;
    if (!this.dice.percent(8)) return text;
    const name = `F${this.mark}${this.fragments.length}`;
    this.fragments.push(`fragment ${name} on ${type.name} { ${text} }`);
    return `...${name}`;
  }

  private directive(): string {
    if (!this.dice.percent(3) || (this.directives += 1) > DIRECTIVES_MAX) return '';
    return this.dice.pick([' @include(if: true)', ' @skip(if: false)', ' @skip(if: true)']);
  }

  private passed(
    parent: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    given: Record<string, unknown> | undefined,
  ): string {
    const isBackward = this.dice.percent(20);
    const texts = field.args.flatMap((arg) => {
      const value = given ? given[arg.name] : this.argument(parent, field, arg, isBackward);
      if (value === undefined) return [];
      if (this.dice.percent(50)) return [`${arg.name}: ${literal(value, arg.type)}`];
      const name = `v${this.mark}${this.declared.length}`;
      this.declared.push(`$${name}: ${String(arg.type)}`);
      this.variables[name] = value;
      return [`${arg.name}: $${name}`];
    });
    return texts.length > 0 ? `(${texts.join(', ')})` : '';
  }

  private argument(
    parent: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    arg: GraphQLArgument,
    isBackward: boolean,
  ): unknown {
    const { dice, stock } = this;
    if (arg.name === (isBackward ? 'last' : 'first')) return dice.int(1, ENTRIES_MAX);
    if (arg.name === (isBackward ? 'before' : 'after'))
      return dice.percent(15) ? stock.cursor(getNamedType(field.type).name, dice) : undefined;
    if (['first', 'after', 'last', 'before'].includes(arg.name)) return undefined;
    if (!isRequiredArgument(arg) && dice.percent(60)) return undefined;
    if (arg.name === 'id') return this.idFor(field.name);
    const type = isNonNullType(arg.type) ? arg.type.ofType : arg.type;
    if (isEnumType(type)) return dice.pick(type.getValues()).name;
    if (type === GraphQLBoolean) return dice.percent(50);
    if (field.name === 'tokenTransfers') return { externalReference: 'none' };
    if (arg.name === 'filter') return this.filter();
    throw new Error(`Nobody knows what to pass as ${parent.name}.${field.name}(${arg.name}).`);
  }

  private idFor(field: string): string {
    const { people, webhookId } = this.stock;
    if (field === 'contractor') return people.awardee.profileId;
    return field === 'webhookEndpoint' ? webhookId : this.job;
  }

  /** Mostly something that the caller can see. */
  private anyNode(): { id: string; type: GraphQLObjectType } {
    const { dice, stock } = this;
    const { people } = stock;
    const nodes: [name: string, id: string | undefined, seenBy: readonly Who[]][] = [
      ['Job', this.job, EVERYBODY],
      ['Bid', stock.stakedBid, ['bidder', 'admin']],
      ['Hold', stock.hold, ['bidder', 'admin']],
      ['TokenTransfer', stock.transfer, ['bidder', 'admin']],
      ['WebhookEndpoint', stock.webhookId, ['owner']],
      ['AdminAction', stock.adminActionId, ['admin']],
      ['Purchase', stock.purchase(dice), ['other', 'admin']],
      ['AccountEvent', stock.accountEvent, ['other', 'admin']],
      ['SavedSearch', stock.lendSearch(dice), ['stranger']],
      ['User', people.owner.userId, ['owner', 'admin']],
      ['Homeowner', people.owner.profileId, ['owner', 'admin']],
      ['Contractor', people.awardee.profileId, EVERYBODY],
    ];
    const seen = nodes.filter(([, , seenBy]) => this.who && seenBy.includes(this.who));
    const [name, id] = dice.pick(seen.length > 0 && dice.percent(80) ? seen : nodes);
    return { id: id ?? this.job, type: schema.getType(name) as GraphQLObjectType };
  }

  private filter(): Record<string, unknown> {
    const { dice } = this;
    const all: Record<string, unknown> = {
      category: 'roofing',
      search: dice.pick(['roof', 'job_', '%', 'é', 'no such thing']),
      status: dice.pick(['OPEN', 'DRAFT', 'COMPLETED']),
      urgency: 'STANDARD',
      near: { zipCode: dice.pick(['78701', '10001']), withinMiles: dice.pick([1, 25.5, 100]) },
    };
    return Object.fromEntries(dice.some(Object.entries(all), 30));
  }
}

/** True for a part of another object, such as a proposal in a dispute, which is read as a whole. */
function isFlat(type: GraphQLNamedType): boolean {
  return isObjectType(type) && Object.values(type.getFields()).every((field) => isLeafType(getNamedType(field.type)));
}

/** A query with a few root fields, or a mutation that the rules allow. */
export function validDocument(stock: Stock, dice: Dice): Written {
  return dice.percent(40)
    ? validMutation(dice.pick(Object.values(MUTATION.getFields())), stock, dice)
    : validQuery(stock, dice);
}

function validQuery(stock: Stock, dice: Dice): Written {
  const who: Who = dice.percent(40) ? 'admin' : dice.pick(EVERYBODY);
  const writing = new Writing(dice, stock, who, seenBy(who, stock, dice));
  const fields = Object.values(QUERY.getFields()).filter(
    ({ name }) => who === 'admin' || !['users', 'auditTokens'].includes(name),
  );
  const chosen = [...new Set([dice.pick(fields), ...dice.some(fields, 10)])].slice(0, 3);
  const depth = dice.weighted([
    [30, 1],
    [30, 2],
    [25, 3],
    [15, 5],
  ]);
  return assembled(
    'query',
    writing,
    chosen.map((field) => writing.field(QUERY, field, depth)),
    stock.token(who),
  );
}

/** A page of jobs with a selection on each, so errors occur in the middle of a list. */
export function validPage(stock: Stock, dice: Dice): Written {
  const who = dice.pick(EVERYBODY);
  const writing = new Writing(dice, stock, who, seenBy(who, stock, dice));
  const job = schema.getType('Job');
  if (!job) throw new Error('The schema has lost its jobs.');
  const { text } = writing.select(job, dice.int(1, 3));
  const nodes = dice.pick([
    `nodes { ${text} }`,
    `edges { cursor node { ${text} } }`,
    `nodes { id } edges { node { ${text} } }`,
  ]);
  const page = {
    text: `jobs(first: ${dice.int(1, ENTRIES_MAX)}) { ${nodes} }`,
    selected: { key: 'jobs', field: 'Query.jobs', inner: [] },
  };
  return assembled('query', writing, [page], stock.token(who));
}

/** Any signed-in user can see an open job, except other homeowners, who only see their own jobs. */
function seenBy(who: Who, stock: Stock, dice: Dice): string {
  return who === 'admin' || who === 'owner' ? stock.any(dice).id : stock.take('open', dice).id;
}

function validMutation(field: GraphQLField<unknown, unknown>, stock: Stock, dice: Dice): Written {
  const prepared = prepare(documented(field.name), stock, dice);
  const { id, bid_id: bidId } = prepared.path;
  const body = prepared.body ?? {};
  const inputType = field.args.find(({ name }) => name === 'input');
  const args: Record<string, unknown> = {
    ...Object.fromEntries(
      field.args.map(({ name, type }) => [name, inGraphql(body[snakeCase(name)], getNamedType(type))]),
    ),
    id: bidId === '' ? id : bidId,
    jobId: id,
    userId: id,
    deliveryId: id,
    endpointId: id,
    expectedVersion: dice.percent(20) ? null : undefined,
    input: inputType && inGraphql(body, getNamedType(inputType.type)),
  };
  const writing = new Writing(dice, stock, undefined, stock.any(dice).id);
  return assembled('mutation', writing, [writing.field(MUTATION, field, dice.int(1, 2), args)], prepared.token);
}

/** A further selection on a type, in addition to the document's existing one. */
export function furtherSelection(type: GraphQLNamedType, stock: Stock, dice: Dice, mark: string) {
  const writing = new Writing(dice, stock, undefined, stock.any(dice).id, mark);
  const { text } = writing.select(type, dice.int(0, 2));
  return { text, declared: writing.declared, variables: writing.variables, fragments: writing.fragments };
}

function assembled(
  kind: 'query' | 'mutation',
  { dice, declared, fragments, variables }: Writing,
  written: readonly { text: string; selected: Selected }[],
  token: string | undefined,
): Written {
  const named = declared.length > 0 || kind === 'mutation' || dice.percent(30);
  const name = named && dice.percent(60) ? `Op${dice.int(1, 99)}` : '';
  const head = named ? `${kind}${name && ` ${name}`}${declared.length > 0 ? `(${declared.join(', ')})` : ''} ` : '';
  const text = `${head}{ ${written.map((one) => one.text).join(' ')} } ${fragments.join(' ')}`.trim();
  const operationName = name !== '' && dice.percent(50) ? name : undefined;
  return {
    text,
    variables,
    operationName,
    selected: written.map(({ selected }) => selected),
    token,
    isMutation: kind === 'mutation',
  };
}

/** A value as it is written in a document. */
export function literal(value: unknown, type?: GraphQLInputType): string {
  if (value === null || value === undefined) return 'null';
  const nullable = type && isNonNullType(type) ? type.ofType : type;
  if (Array.isArray(value))
    return `[${value.map((one) => literal(one, nullable && getNamedType(nullable))).join(', ')}]`;
  if (typeof value === 'object') {
    const fields = nullable && isInputObjectType(nullable) ? nullable.getFields() : {};
    return `{${Object.entries(value)
      .map(([name, one]) => `${name}: ${literal(one, fields[name]?.type)}`)
      .join(', ')}}`;
  }
  if (isEnumType(nullable)) return nullable.getValues().find((one) => one.value === value)?.name ?? String(value);
  // JSON's escapes are also GraphQL's, except for lone surrogates.
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
