/** Both stories of a job, through the functions and zod schemas that `orval` generates. */
import * as api from './orval/fetch.js';
import type { CreateJobRequest, ErrorCode, JobStatus } from './orval/fetch.js';
import * as schemas from './orval/zod.js';
import { PERSON, same, WORK, type Given } from './stories.js';

const BODY: CreateJobRequest = WORK;
const FINISHED: JobStatus = 'completed';
const STALE: ErrorCode = 'STALE_VERSION';

interface Answer {
  readonly status: number;
  readonly data: unknown;
}

/** The response to the call, which must have this status. */
function answered<A extends Answer, S extends A['status']>(answer: A, status: S): Extract<A, { status: S }>['data'] {
  if (answer.status !== status) throw new Error(`${answer.status}: ${JSON.stringify(answer.data)}`);
  return answer.data as Extract<A, { status: S }>['data'];
}

export async function story({ baseUrl, fetch, admin }: Given): Promise<void> {
  // Orval's code calls the global `fetch`, with an address from its configuration.
  globalThis.fetch = (address, init) => fetch(new Request(new URL(String(address), baseUrl), init));
  const as = (token: string, more = {}) => ({ headers: { Authorization: `Bearer ${token}`, ...more } });

  const join = { ...PERSON, email: 'hanna.orval@example.test' };
  const hannas = answered(await api.signUpHomeowner(schemas.signUpHomeownerBody.parse(join)), 201).token;
  const hanna = as(hannas);
  const pipes = { ...PERSON, email: 'carl.orval@example.test', company_name: 'Pipes' };
  const carl = as(answered(await api.signUpContractor(pipes), 201).token);
  const ada = as(answered(await api.logIn(admin), 200).token);

  const taken = answered(await api.signUpHomeowner(join), 400);
  same([taken.status, taken.details.code === 'EMAIL_TAKEN'], [400, true]);
  // @ts-expect-error: the code doesn't exist.
  same(taken.details.code === 'EMAIL_GONE', false);
  // @ts-expect-error: the code is one of another call.
  same(taken.details.code === 'UNKNOWN_BID', false);
  // @ts-expect-error: a title is required.
  same(answered(await api.createJob({}, hanna), 400).details.code, 'VALIDATION_FAILED');
  same(schemas.createJobBody.safeParse({}).success, false);

  async function working(): Promise<string> {
    const { id } = schemas.jobResponse.parse(answered(await api.createJob(BODY, hanna), 201));
    const read = await api.job(id, hanna);
    same(answered(read, 200).status, 'draft');
    const known = as(hannas, { 'If-Match': read.headers.get('etag') ?? '' });
    same(answered(await api.updateJob(id, { budget_max: 450 }, known), 200).budget_max, 450);
    same(answered(await api.updateJob(id, { budget_max: 450 }, known), 412).details.code, STALE);

    schemas.publishJobResponse.parse(answered(await api.publishJob(id, hanna), 200));
    const bid = schemas.bidResponse.parse(answered(await api.submitBid(id, { amount: 300 }, carl), 201));
    same(
      answered(await api.bids(id, {}, hanna), 200).data.map((one) => one.id),
      [bid.id],
    );
    answered(await api.awardJob(id, { bid_id: bid.id }, hanna), 200);
    answered(await api.checkInJob(id, { notes: 'On site.' }, carl), 200);
    answered(await api.submitJobForReview(id, {}, carl), 200);
    return id;
  }

  const approved = await working();
  same(answered(await api.approveJob(approved, { rating: 5 }, hanna), 200).status, FINISHED);

  const disputed = await working();
  answered(await api.disputeJob(disputed, { reason: 'It drips.' }, hanna), 200);
  answered(await api.escalateJob(disputed, { escalation_reason: 'We can’t agree.' }, carl), 200);
  const ruling = { decision: 'The contractor redoes the work.', ruling: 'The joint was not sealed.' };
  answered(await api.reachDecision(disputed, ruling, ada), 200);
  answered(await api.fileAppeal(disputed, { appeal_reason: 'The tap was faulty.' }, carl), 200);
  const last = { final_decision: 'It stands.', ruling: 'The recall came later.' };
  same(answered(await api.finalizeAppeal(disputed, last, ada), 200).status, FINISHED);
  const dispute = schemas.disputeResponse.parse(answered(await api.dispute(disputed, hanna), 200));
  same(dispute.ending?.how, 'final_decision');
  schemas.jobEventsResponse.parse(answered(await api.jobEvents(disputed, {}, hanna), 200));

  const second = answered(await api.jobs({ page: 2, per_page: 1 }, hanna), 200);
  same(
    schemas.jobsResponse.parse(second).data.map(({ id }) => id),
    [approved],
  );

  const key = answered(await api.createApiKey({ name: 'Export' }, hanna), 201);
  const program = as(key.secret);
  schemas.viewerResponse.parse(answered(await api.viewer(program), 200));
  answered(await api.revokeApiKey(key.api_key.id, hanna), 200);
  same(answered(await api.viewer(program), 401).details.reason, 'session_ended');
}
