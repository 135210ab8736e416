/** Both stories of a job, through the functions that `@hey-api/openapi-ts` generates. */
import { createClient } from './hey/client/index.js';
import * as api from './hey/index.js';
import type { CreateJobRequest, ErrorCode, JobStatus } from './hey/index.js';
import { accepted, nextOf, PERSON, refused, same, WORK, type Given } from './stories.js';

const BODY: CreateJobRequest = WORK;
const FINISHED: JobStatus = 'completed';
const STALE: ErrorCode = 'STALE_VERSION';

export async function story({ baseUrl, fetch, admin }: Given): Promise<void> {
  const as = (token?: string) => ({
    client: createClient({ baseUrl, fetch: fetch as typeof globalThis.fetch, auth: () => token }),
  });

  const join = { ...PERSON, email: 'hanna.hey@example.test' };
  const hanna = as(accepted(await api.signUpHomeowner({ ...as(), body: join })).token);
  const pipes = { ...PERSON, email: 'carl.hey@example.test', company_name: 'Pipes' };
  const carl = as(accepted(await api.signUpContractor({ ...as(), body: pipes })).token);
  const ada = as(accepted(await api.logIn({ ...as(), body: admin })).token);

  const taken = refused(await api.signUpHomeowner({ ...as(), body: join }));
  same([taken.status, taken.details.code === 'EMAIL_TAKEN'], [400, true]);
  // @ts-expect-error: the code doesn't exist.
  same(taken.details.code === 'EMAIL_GONE', false);
  // @ts-expect-error: a title is required.
  same(refused(await api.createJob({ ...hanna, body: {} })).details.code, 'VALIDATION_FAILED');

  async function working(): Promise<{ path: { id: string } }> {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const { id } = accepted(await api.createJob({ ...hanna, headers, body: BODY }));
    const again = await api.createJob({ ...hanna, headers, body: BODY });
    same([accepted(again).id, again.response?.headers.get('idempotency-replayed')], [id, 'true']);

    const path = { id };
    const tried = await api.publishJob({ ...hanna, path, headers: { 'Dry-Run': 'true' } });
    same([accepted(tried).job.status, tried.response?.headers.get('dry-run')], ['open', 'true']);
    const read = await api.job({ ...hanna, path });
    same(accepted(read).status, 'draft');
    const edit = {
      ...hanna,
      path,
      body: { budget_max: 450 },
      headers: { 'If-Match': read.response?.headers.get('etag') ?? '' },
    };
    same(accepted(await api.updateJob(edit)).budget_max, 450);
    same(refused(await api.updateJob(edit)).details.code, STALE);

    accepted(await api.publishJob({ ...hanna, path }));
    const bid = accepted(await api.submitBid({ ...carl, path, body: { amount: 300 } }));
    same(
      accepted(await api.bids({ ...hanna, path })).data.map((one) => one.id),
      [bid.id],
    );
    accepted(await api.awardJob({ ...hanna, path, body: { bid_id: bid.id } }));
    accepted(await api.checkInJob({ ...carl, path, body: { notes: 'On site.' } }));
    accepted(await api.submitJobForReview({ ...carl, path, body: {} }));
    return { path };
  }

  const approved = await working();
  same(accepted(await api.approveJob({ ...hanna, ...approved, body: { rating: 5 } })).status, FINISHED);

  const disputed = await working();
  accepted(await api.disputeJob({ ...hanna, ...disputed, body: { reason: 'It drips.' } }));
  accepted(await api.escalateJob({ ...carl, ...disputed, body: { escalation_reason: 'We can’t agree.' } }));
  const ruling = { decision: 'The contractor redoes the work.', ruling: 'The joint was not sealed.' };
  accepted(await api.reachDecision({ ...ada, ...disputed, body: ruling }));
  accepted(await api.fileAppeal({ ...carl, ...disputed, body: { appeal_reason: 'The tap was faulty.' } }));
  const last = { final_decision: 'It stands.', ruling: 'The recall came later.' };
  same(accepted(await api.finalizeAppeal({ ...ada, ...disputed, body: last })).status, FINISHED);
  same(accepted(await api.dispute({ ...hanna, ...disputed })).ending?.how, 'final_decision');

  const first = await api.jobs({ ...hanna, query: { per_page: 1 } });
  same(
    accepted(first).data.map(({ id }) => id),
    [disputed.path.id],
  );
  const after = nextOf(first.response);
  if (after === undefined) throw new Error('There is a second page.');
  const second = await api.jobs({ ...hanna, query: { per_page: 1, after } });
  same(
    accepted(second).data.map(({ id }) => id),
    [approved.path.id],
  );

  const key = accepted(await api.createApiKey({ ...hanna, body: { name: 'Export' } }));
  const program = as(key.secret);
  accepted(await api.viewer(program));
  accepted(await api.revokeApiKey({ ...hanna, path: { id: key.api_key.id } }));
  same(refused(await api.viewer(program)).details.reason, 'session_ended');
}
