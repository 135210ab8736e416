/** Sends one call through either API. The response has one form: camelCase names and lowercase enum values. */
import { Agent, request } from 'node:http';
import type { Json } from '../setup/app.js';
import { OPERATIONS_ON_JOBS } from '../story/specified.js';
import type { Call, Fields } from './market.js';
import { TRANSITION } from './shapes.js';

export interface Heard {
  /** REST's own status. For GraphQL, the status that the error names. */
  readonly status: number;
  readonly code: string | null;
  readonly fields: string[] | undefined;
  readonly blocked: string[];
  readonly details: Fields;
  /** In camelCase. For GraphQL, the value of the single root field. */
  readonly data: Json;
}

export interface Apis {
  send(call: Call, token: string | undefined): Promise<Heard>;
  graphql(query: string, variables: Fields, token: string | undefined): Promise<{ data: Json; errors?: Json[] }>;
  close(): void;
}

/** `fetch` costs more than the server's own work, and this runs thousands of times. */
export function openApis(url: string): Apis {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(url);

  function exchange(
    method: string,
    path: string,
    token: string | undefined,
    body: unknown,
    more: Record<string, string> = {},
  ): Promise<{ status: number; body: Json; headers: Record<string, unknown> }> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...more,
      };
      const sent = request({ agent, hostname, port, method, path, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const whole = Buffer.concat(chunks).toString();
          resolve({
            status: answer.statusCode ?? 0,
            body: whole === '' ? undefined : JSON.parse(whole),
            headers: answer.headers,
          });
        });
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(text);
    });
  }

  const graphql: Apis['graphql'] = async (query, variables, token) =>
    (await exchange('POST', '/graphql', token, { query, variables })).body;

  async function byGraphql(call: Call, token: string | undefined): Promise<Heard> {
    const { query, variables, root } = document(call);
    const { data, errors } = await graphql(query, variables, token);
    const [error] = errors ?? [];
    if (!error)
      return { status: 200, code: null, fields: undefined, blocked: [], details: {}, data: root(lowered(data)) };
    const { code, status, fields, blockedFields, requestId: _, ...details } = error.extensions;
    return {
      status,
      code,
      fields:
        fields &&
        Object.keys(fields)
          .map((name) => (name === 'first' ? 'perPage' : name))
          .sort(),
      blocked: [...(blockedFields ?? [])].sort(),
      details,
      data: null,
    };
  }

  async function byRest(call: Call, token: string | undefined): Promise<Heard> {
    const { method, path } = address(call);
    const isRead = method === 'GET';
    const query = isRead ? queryOf(call.body) : '';
    const sendsBody = !isRead && (Object.keys(call.body).length > 0 || method === 'PUT');
    const headers: Record<string, string> = call.version === undefined ? {} : { 'if-match': `"${call.version}"` };
    const answer = await exchange(
      method,
      `/v1${path}${query}`,
      token,
      sendsBody ? snakeKeys(call.body) : undefined,
      headers,
    );
    const body: Json = camelKeys(answer.body);
    if (answer.status < 400) {
      if (body.version !== undefined && answer.headers.etag !== `"${body.version}"`)
        throw new Error(`The ETag of version ${body.version} is ${String(answer.headers.etag)}.`);
      return { status: answer.status, code: null, fields: undefined, blocked: [], details: {}, data: body };
    }
    const { code, fields, requestId: _, ...details } = body.details;
    return {
      status: body.status,
      code,
      fields: fields && Object.keys(fields).sort(),
      blocked: body.blockedFields.map(camel).sort(),
      details,
      data: null,
    };
  }

  return {
    send: (call, token) => (call.api === 'rest' ? byRest(call, token) : byGraphql(call, token)),
    graphql,
    close: () => agent.destroy(),
  };
}

const PATHS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(OPERATIONS_ON_JOBS).map(({ operation, path }) => [operation, path])),
  viewBid: 'view',
  shortlistBid: 'shortlist',
  rejectBid: 'reject',
  withdrawBid: 'withdraw',
};

function address({ op, job, bid, user, purchase }: Call): { method: string; path: string } {
  switch (op) {
    case 'createJob':
      return { method: 'POST', path: '/jobs' };
    case 'updateJob':
      return { method: 'PUT', path: `/jobs/${job}` };
    case 'deleteJob':
      return { method: 'DELETE', path: `/jobs/${job}` };
    case 'submitBid':
      return { method: 'POST', path: `/jobs/${job}/bids` };
    case 'reviseBid':
      return { method: 'PUT', path: `/jobs/${job}/bids/${bid}` };
    case 'listRevisions':
      return { method: 'GET', path: `/bids/${bid}/revisions` };
    case 'adjustTokens':
      return { method: 'POST', path: '/tokens/adjustments' };
    case 'buyTokens':
      return { method: 'POST', path: '/purchases' };
    case 'refundPurchase':
      return { method: 'POST', path: `/purchases/${purchase}/refund` };
    case 'advanceClock':
      return { method: 'POST', path: '/test-clock' };
    case 'suspendUser':
      return { method: 'POST', path: `/users/${user}/suspend` };
    case 'restoreUser':
      return { method: 'POST', path: `/users/${user}/restore` };
    case 'viewBid':
    case 'shortlistBid':
    case 'rejectBid':
    case 'withdrawBid':
      return { method: 'POST', path: `/jobs/${job}/bids/${bid}/${PATHS[op]}` };
    case 'readJob':
      return { method: 'GET', path: `/jobs/${job}` };
    case 'listJobs':
      return { method: 'GET', path: '/jobs' };
    case 'listBids':
      return { method: 'GET', path: `/jobs/${job}/bids` };
    case 'ownBids':
      return { method: 'GET', path: '/bids' };
    case 'listEvents':
      return { method: 'GET', path: `/jobs/${job}/events` };
    case 'readDispute':
      return { method: 'GET', path: `/jobs/${job}/dispute` };
    case 'readUpcoming':
      return { method: 'GET', path: `/jobs/${job}/upcoming` };
    case 'readTokens':
      return { method: 'GET', path: '/tokens' };
    case 'readPurchase':
      return { method: 'GET', path: `/purchases/${purchase}` };
    case 'readContractor':
      return { method: 'GET', path: `/contractors/${job}` };
    default:
      return { method: 'POST', path: `/jobs/${job}/${PATHS[op]}` };
  }
}

export const JOB = `id title description status category budgetMin budgetMax urgency addressLine1 addressLine2
  city state zipCode country latitude longitude desiredStartDate desiredCompletionDate requirements
  homeownerId awardedBidId rating review version createdAt statusChangedAt updatedAt`;
/** For a single job. On a page of 100, warnings would cost more than an operation may. */
const ONE_JOB = `${JOB} warnings { code field message }`;
export const BID = `id jobId contractorId status amount estimatedDurationDays message proposedStartDate
  materialsIncluded paymentTerms guaranteedView holdId suspended version isOutdated
  createdAt updatedAt submittedAt`;
export const EVENTS =
  'totalCount nodes { jobId sequence type actorId fromStatus toStatus occurredAt rating review fields ' +
  'tokensCharged tokensRefunded bidId data }';
export const DISPUTE = `reason details openedBy { id } openedAt proposal { id resolution proposedBy agreedBy }
  escalation { reason by } decision { decision ruling resolutionTerms by }
  appeal { reason supportingEvidence by } finalDecision { finalDecision ruling by } ending { how text by }`;
export const PURCHASE =
  'id userId pack status tokens amount currency refundedTokens refundedAmount disputedAt paidAt createdAt';
const USER = 'id suspendedAt suspendedUntil';
export const CONTRACTOR = 'id completedJobs ratingAverage ratingCount';

interface Document {
  readonly query: string;
  readonly variables: Fields;
  /** The operation's result, in the same form as REST's. */
  root(data: Json): Json;
}

function document(call: Call): Document {
  const { op, job: id, bid, user, body, version } = call;
  const versioned = { id, version: version ?? null };
  const payload = (data: Json) => (op === 'publishJob' ? data[op] : Object.values(data[op])[0]);
  const mutation = (query: string, variables: Fields, root: (data: Json) => Json = payload): Document => ({
    query,
    variables,
    root,
  });
  const { page: _, perPage: first = null, status, ...filter } = body;
  const asked = {
    ...filter,
    ...(status !== undefined && { status: upper(status) }),
    ...(filter.urgency !== undefined && { urgency: upper(filter.urgency) }),
  };
  const pageOf = (connection: Json) => ({ data: connection.nodes, total: connection.totalCount });
  switch (op) {
    case 'createJob':
      return mutation(`mutation($input: CreateJobInput!) { createJob(input: $input) { job { ${ONE_JOB} } } }`, {
        input: withEnums(body),
      });
    case 'updateJob':
      return mutation(
        `mutation($id: ID!, $version: Int, $input: UpdateJobInput!) { updateJob(id: $id, expectedVersion: ` +
          `$version, input: $input) { job { ${ONE_JOB} } } }`,
        { ...versioned, input: withEnums(body) },
      );
    case 'deleteJob':
      return mutation(
        `mutation($id: ID!, $version: Int) { deleteJob(id: $id, expectedVersion: $version) { job { ${ONE_JOB} } } }`,
        versioned,
      );
    case 'publishJob':
      return mutation(
        `mutation($id: ID!, $version: Int) { publishJob(id: $id, expectedVersion: $version) { job ` +
          `{ ${ONE_JOB} } tokensCharged remainingBalance } }`,
        versioned,
      );
    case 'reviewJob':
      return mutation(
        `mutation($id: ID!, $version: Int, $input: ReviewJobInput!) { reviewJob(id: $id, expectedVersion: $version, ` +
          `input: $input) { job { ${ONE_JOB} } } }`,
        { ...versioned, input: body },
      );
    case 'extendDeadline':
      return mutation(
        `mutation($id: ID!, $version: Int, $input: ExtendDeadlineInput!) { extendDeadline(id: $id, expectedVersion: ` +
          `$version, input: $input) { job { ${ONE_JOB} } } }`,
        { ...versioned, input: body },
      );
    case 'advanceClock': {
      const unknown = Object.keys(body).filter((name) => name !== 'seconds');
      const given = ['seconds: $seconds', ...unknown.map((name) => `${name}: 1`)].join(', ');
      return mutation(`mutation($seconds: Int!) { advanceClock(${given}) { now } }`, body, (data) => data[op]);
    }
    case 'submitBid':
      return mutation(
        `mutation($id: ID!, $input: SubmitBidInput!) { submitBid(jobId: $id, input: $input) { bid { ${BID} } } }`,
        { id, input: body },
      );
    case 'reviseBid':
      return mutation(
        `mutation($id: ID!, $version: Int, $input: ReviseBidInput) { reviseBid(id: $id, expectedVersion: $version, ` +
          `input: $input) { bid { ${BID} } } }`,
        { id: bid, version: version ?? null, input: body },
      );
    case 'listRevisions':
      throw new Error('GraphQL lists the revisions as a field of the bid.');
    case 'readPurchase':
      throw new Error('GraphQL lists the purchases as a field of the viewer.');
    case 'payPurchase':
    case 'expirePurchase':
    case 'chargeBack':
      throw new Error(`${op} is reported by the payment provider.`);
    case 'viewBid':
    case 'shortlistBid':
    case 'rejectBid':
    case 'withdrawBid':
      return mutation(`mutation($id: ID!) { ${op}(id: $id) { bid { ${BID} } } }`, { id: bid });
    case 'adjustTokens':
      return mutation(
        'mutation($input: AdjustTokensInput!) { adjustTokens(input: $input) { transfer { id fromAccount toAccount ' +
          'amount reason note bought } } }',
        { input: body },
      );
    case 'buyTokens':
      return mutation(
        `mutation($input: BuyTokensInput!) { buyTokens(input: $input) { purchase { ${PURCHASE} } checkoutUrl } }`,
        { input: body },
        (data) => data[op],
      );
    case 'refundPurchase':
      return mutation(
        `mutation($id: ID!, $input: RefundPurchaseInput!) { refundPurchase(id: $id, input: $input) { purchase ` +
          `{ ${PURCHASE} } } }`,
        { id: call.purchase, input: body },
      );
    case 'suspendUser':
      return mutation(
        `mutation($id: ID!, $input: SuspendUserInput!) { suspendUser(id: $id, input: $input) { user { ${USER} } } }`,
        { id: user, input: body },
      );
    case 'restoreUser':
      return mutation(`mutation($id: ID!) { restoreUser(id: $id) { user { ${USER} } } }`, { id: user });
    case 'readJob':
      return { query: `query($id: ID!) { job(id: $id) { ${ONE_JOB} } }`, variables: { id }, root: (data) => data.job };
    case 'listJobs':
      return {
        query:
          `query($filter: JobFilter, $first: Int) { jobs(filter: $filter, first: $first) { totalCount nodes ` +
          `{ ${JOB} } } }`,
        variables: { filter: asked, first },
        root: (data) => pageOf(data.jobs),
      };
    case 'listBids':
      return {
        query:
          `query($id: ID!, $status: BidStatus, $first: Int) { job(id: $id) { bids(status: $status, first: ` +
          `$first) { totalCount nodes { ${BID} } } } }`,
        variables: { id, first, status: upper(status) },
        root: (data) => pageOf(data.job.bids),
      };
    case 'ownBids':
      return {
        query:
          `query($status: BidStatus, $first: Int) { viewer { bids(status: $status, first: $first) { ` +
          `totalCount nodes { ${BID} } } } }`,
        variables: { first, status: upper(status) },
        root: (data) => pageOf(data.viewer.bids),
      };
    case 'listEvents':
      return {
        query: `query($id: ID!, $first: Int) { job(id: $id) { timeline(first: $first) { ${EVENTS} } } }`,
        variables: { id, first },
        root: (data) => pageOf(data.job.timeline),
      };
    case 'readDispute':
      return {
        query: `query($id: ID!) { job(id: $id) { dispute { ${DISPUTE} } } }`,
        variables: { id },
        root: ({ job: { dispute } }) => dispute && { ...dispute, openedBy: dispute.openedBy.id },
      };
    case 'readUpcoming':
      return {
        query: 'query($id: ID!) { job(id: $id) { upcoming { action at unless } } }',
        variables: { id },
        root: ({ job }) => ({ data: job.upcoming }),
      };
    case 'readTokens':
      return {
        query: '{ viewer { tokens { balance held available bought debt } } }',
        variables: {},
        root: (data) => data.viewer.tokens,
      };
    case 'readContractor':
      return {
        query: `query($id: ID!) { contractor(id: $id) { ${CONTRACTOR} } }`,
        variables: { id },
        root: (data) => data.contractor,
      };
    default: {
      const kinds = Object.values(TRANSITION[op]);
      if (kinds.length === 0)
        return mutation(
          `mutation($id: ID!, $version: Int) { ${op}(id: $id, expectedVersion: $version) { job { ${ONE_JOB} } } }`,
          versioned,
        );
      const isOptional = kinds.every(({ required }) => !required);
      const type = `${op[0]?.toUpperCase()}${op.slice(1)}Input${isOptional ? '' : '!'}`;
      const input = Object.keys(body).length === 0 && isOptional ? null : body;
      return mutation(
        `mutation($id: ID!, $version: Int, $input: ${type}) { ${op}(id: $id, expectedVersion: $version, input: ` +
          `$input) { job { ${ONE_JOB} } } }`,
        { ...versioned, input },
      );
    }
  }
}

function withEnums(body: Fields): Fields {
  return typeof body.urgency === 'string' ? { ...body, urgency: upper(body.urgency) } : body;
}

function upper(word: unknown): unknown {
  return typeof word === 'string' ? word.toUpperCase() : (word ?? null);
}

const ENUM_FIELDS = new Set(['status', 'urgency', 'fromStatus', 'toStatus', 'how']);

/** Enum values as REST spells them, wherever they occur. */
export function lowered(value: Json): Json {
  if (Array.isArray(value)) return value.map(lowered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      ENUM_FIELDS.has(name) && typeof inner === 'string'
        ? inner.toLowerCase()
        : name === 'data'
          ? inner
          : lowered(inner),
    ]),
  );
}

export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeKeys(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [snake(name), value]));
}

function camelKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(camelKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [camel(name), camelKeys(inner)]));
}

function queryOf(body: Fields): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) if (value !== null) parameters.set(snake(name), String(value));
  const query = parameters.toString();
  return query === '' ? '' : `?${query}`;
}
