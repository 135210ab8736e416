/**
 * PostGraphile generates its schema from the tables. These documents request the same data under its own names, with
 * the visibility rules as conditions.
 */
import { seededId } from '../market/market.js';
import type { Asked } from '../work/works.js';

const LIST = `query OpenJobs($contractor: String!) { jobs: allJobs(condition: {status: open}, first: 20,
  orderBy: [CREATED_AT_DESC, PRIMARY_KEY_DESC]) {
  nodes { id: rowId title status category urgency budgetMin budgetMax city state bidCount createdAt
    homeowner: homeownerByHomeownerId { id: rowId city state user: userByUserId { firstName lastName } }
    own: bidsByJobId(condition: {contractorId: $contractor}, first: 1, orderBy: [CREATED_AT_DESC,
      PRIMARY_KEY_DESC]) { nodes { id: rowId amount status } } }
  pageInfo { hasNextPage endCursor } } }`;

const ONE_JOB = `query OneJob($id: String!, $homeowner: String!) { found: allJobs(condition: {rowId: $id,
  homeownerId: $homeowner}, first: 1) { nodes {
  id: rowId title description status category urgency budgetMin budgetMax addressLine1 city state zipCode country
    latitude longitude desiredStartDate desiredCompletionDate
  requirements version bidCount createdAt updatedAt
  homeowner: homeownerByHomeownerId { id: rowId city state user: userByUserId { firstName lastName email } }
  awardedBid: bidByAwardedBidIdAndRowIdAndAwardedContractorId { id: rowId amount contractor: contractorByContractorId
    { id: rowId companyName user: userByUserId { firstName lastName } } }
  bids: bidsByJobId(first: 20, orderBy: [GUARANTEED_VIEW_DESC, CREATED_AT_DESC,
    PRIMARY_KEY_DESC]) { nodes { id: rowId amount status message estimatedDurationDays guaranteedView createdAt
    contractor: contractorByContractorId { id: rowId companyName verified ratingSum ratingCount user: userByUserId {
      firstName lastName } } } pageInfo { hasNextPage } }
  timeline: eventsByJobId(first: 20, orderBy: [SEQUENCE_ASC]) { nodes { sequence type fromStatus toStatus occurredAt }
    pageInfo { hasNextPage } }
  availableActions { action allowed reason } } } }`;

const ME = `query Me { viewer { id: rowId email firstName lastName userType referralCode
  homeowner: homeownerByUserId { id: rowId city state zipCode } contractor: contractorByUserId { id: rowId companyName
    completedJobs ratingSum ratingCount }
  tokens: tokenBalanceByUserId { balance held } } }`;

const CHANGED = '{ id: rowId status version updatedAt }';
const DOCUMENTS: Readonly<Record<string, string>> = {
  OpenJobs: LIST,
  OneJob: ONE_JOB,
  Me: ME,
  Publish: `mutation Publish($id: String!) { publishJob(id: $id) { job ${CHANGED} tokensCharged remainingBalance } }`,
  Award: `mutation Award($id: String!, $bidId: String!) { awardJob(id: $id, bidId: $bidId) ${CHANGED} }`,
  CheckIn: `mutation CheckIn($id: String!, $notes: String) { checkInJob(id: $id, notes: $notes) ${CHANGED} }`,
};

export function asPostgraphileSays(asked: Asked): Asked {
  const { body, person = 0 } = asked;
  const query = body && DOCUMENTS[body.operationName];
  if (!body || !query) throw new Error('PostGraphile takes no part in this.');
  const viewer = { OpenJobs: { contractor: seededId('ctr', person) }, OneJob: { homeowner: seededId('hmw', person) } }[
    body.operationName
  ];
  return { ...asked, body: { ...body, query, variables: { ...body.variables, ...viewer } } };
}

interface Nodes<Node> {
  nodes: Node[];
  pageInfo: object;
}

interface Rated {
  ratingSum: number;
  ratingCount: number;
}

/** Its response, with the product's names and formats. */
export function backFromPostgraphile(asked: Asked, data: unknown): unknown {
  const said = spelled(data);
  switch (asked.body?.operationName) {
    case 'OpenJobs': {
      const { jobs } = said as { jobs: Nodes<{ id: string; createdAt: string; own: Nodes<object> }> };
      const last = jobs.nodes.at(-1);
      // PostGraphile has its own cursor format. The check above shows that there is a cursor.
      const endCursor =
        last && Buffer.from(JSON.stringify([Date.parse(last.createdAt), last.id])).toString('base64url');
      return {
        jobs: {
          nodes: jobs.nodes.map(({ own, ...job }) => ({ ...job, myBid: own.nodes[0] ?? null })),
          pageInfo: { ...jobs.pageInfo, endCursor },
        },
      };
    }
    case 'OneJob':
      return { job: rated((said as { found: Nodes<object> }).found.nodes[0]) };
    case 'Me': {
      const { homeowner, contractor, tokens, referralCode, ...user } = (
        said as {
          viewer: {
            homeowner: object;
            contractor: object;
            tokens: { balance: number; held: number };
            referralCode: string;
          };
        }
      ).viewer;
      return {
        viewer: {
          user,
          homeowner,
          contractor: rated(contractor),
          tokens: { ...tokens, available: tokens.balance - tokens.held },
          referralCode,
        },
      };
    }
    case 'Award':
    case 'CheckIn':
      // The database's functions return only the job.
      return Object.fromEntries(Object.entries(said as object).map(([name, job]) => [name, { job: job as object }]));
    default:
      return said;
  }
}

const MONEY = new Set(['amount', 'budgetMin', 'budgetMax']);
const CHOICES = new Set(['status', 'urgency', 'fromStatus', 'toStatus', 'userType']);
const MOMENTS = new Set(['createdAt', 'updatedAt', 'occurredAt']);

function spelled(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => spelled(one));
  // An event's data is compared as written, whether sent as a string or an object.
  if (name === 'data') return typeof value === 'string' ? (JSON.parse(value) as unknown) : value;
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, spelled(inner, key)]));
  if (typeof value !== 'string') return value;
  if (MONEY.has(name)) return Number(value);
  if (CHOICES.has(name)) return value.toUpperCase();
  if (MOMENTS.has(name)) return new Date(value).toISOString();
  return value;
}

/** Computes the mean, which PostGraphile leaves to its clients. */
function rated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rated);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rated(one)]));
  if (!('ratingSum' in value)) return inner;
  const { ratingSum, ratingCount, ...rest } = inner as unknown as Rated;
  return {
    ...rest,
    ratingCount,
    ratingAverage: ratingCount === 0 ? null : Math.round((ratingSum * 100) / ratingCount) / 100,
  };
}
