/** Both stories of a job, through `openapi-fetch` with types from `openapi-typescript`. */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';
import { accepted, nextOf, PERSON, refused, same, WORK, type Given } from './stories.js';

type Job = components['schemas']['Job'];
const BODY: components['schemas']['CreateJobRequest'] = WORK;
const FINISHED: components['schemas']['JobStatus'] = 'completed';

export async function story({ baseUrl, fetch, admin }: Given): Promise<void> {
  const as = (token?: string) =>
    createClient<paths>({ baseUrl, fetch, headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
  type Client = ReturnType<typeof as>;

  const email = 'hanna.fetch@example.test';
  const join = { ...PERSON, email };
  const hanna = as(accepted(await as().POST('/v1/auth/signup/homeowner', { body: join })).token);
  const carl = as(
    accepted(
      await as().POST('/v1/auth/signup/contractor', {
        body: { ...PERSON, email: 'carl.fetch@example.test', company_name: 'Pipes' },
      }),
    ).token,
  );
  const ada = as(accepted(await as().POST('/v1/auth/login', { body: admin })).token);

  const taken = refused(await as().POST('/v1/auth/signup/homeowner', { body: join }));
  same([taken.status, taken.details.code === 'EMAIL_TAKEN'], [400, true]);
  // @ts-expect-error: an unknown code.
  same(taken.details.code === 'EMAIL_GONE', false);
  const stranger = refused(await as('nonsense').GET('/v1/me'));
  same([stranger.details.code, stranger.details.reason], ['UNAUTHENTICATED', 'malformed']);
  // @ts-expect-error: a title is required.
  same(refused(await hanna.POST('/v1/jobs', { body: {} })).details.code, 'VALIDATION_FAILED');

  const at = (id: string) => ({ params: { path: { id } } });

  async function working(): Promise<string> {
    const header = { 'Idempotency-Key': crypto.randomUUID() };
    const first = await hanna.POST('/v1/jobs', { body: BODY, params: { header } });
    const again = await hanna.POST('/v1/jobs', { body: BODY, params: { header } });
    const { id }: Job = accepted(first);
    same([accepted(again).id, again.response.headers.get('idempotency-replayed')], [id, 'true']);
    const reused = { body: { ...BODY, title: 'Another' }, params: { header } };
    same(refused(await hanna.POST('/v1/jobs', reused)).details.code, 'IDEMPOTENCY_KEY_REUSED');

    const tried = await hanna.POST('/v1/jobs/{id}/publish', {
      params: { path: { id }, header: { 'Dry-Run': 'true' } },
    });
    same([accepted(tried).job.status, tried.response.headers.get('dry-run')], ['open', 'true']);
    const read = await hanna.GET('/v1/jobs/{id}', at(id));
    same(accepted(read).status, 'draft');
    const etag = read.response.headers.get('etag') ?? '';
    const edit = { body: { budget_max: 450 }, params: { path: { id }, header: { 'If-Match': etag } } };
    same(accepted(await hanna.PUT('/v1/jobs/{id}', edit)).budget_max, 450);
    same(refused(await hanna.PUT('/v1/jobs/{id}', edit)).details.code, 'STALE_VERSION');

    accepted(await hanna.POST('/v1/jobs/{id}/publish', at(id)));
    const bid = accepted(await carl.POST('/v1/jobs/{id}/bids', { ...at(id), body: { amount: 300 } }));
    same(
      accepted(await hanna.GET('/v1/jobs/{id}/bids', at(id))).data.map((one) => one.id),
      [bid.id],
    );
    accepted(await hanna.POST('/v1/jobs/{id}/award', { ...at(id), body: { bid_id: bid.id } }));
    accepted(await carl.POST('/v1/jobs/{id}/checkin', { ...at(id), body: { notes: 'On site.' } }));
    accepted(await carl.POST('/v1/jobs/{id}/submit-for-review', { ...at(id), body: {} }));
    return id;
  }

  const approved = await working();
  const review = { ...at(approved), body: { rating: 5, review: 'On time.' } };
  same(accepted(await hanna.POST('/v1/jobs/{id}/approve', review)).status, FINISHED);

  const disputed = await working();
  const given = { ...at(disputed) };
  accepted(await hanna.POST('/v1/jobs/{id}/dispute', { ...given, body: { reason: 'It drips.' } }));
  accepted(await carl.POST('/v1/jobs/{id}/escalate', { ...given, body: { escalation_reason: 'We can’t agree.' } }));
  const ruling = { decision: 'The contractor redoes the work.', ruling: 'The joint was not sealed.' };
  accepted(await ada.POST('/v1/jobs/{id}/reach-decision', { ...given, body: ruling }));
  accepted(await carl.POST('/v1/jobs/{id}/file-appeal', { ...given, body: { appeal_reason: 'The tap was faulty.' } }));
  const last = { ...given, body: { final_decision: 'It stands.', ruling: 'The recall came later.' } };
  same(accepted(await ada.POST('/v1/jobs/{id}/finalize-appeal', last)).status, FINISHED);
  same(accepted(await hanna.GET('/v1/jobs/{id}/dispute', given)).ending?.how, 'final_decision');

  same(await typesOf(hanna, disputed), 'job.created');
  same(
    accepted(await hanna.GET('/v1/jobs', { params: { query: { page: 2, per_page: 1 } } })).data.map(({ id }) => id),
    [approved],
  );

  const key = accepted(await hanna.POST('/v1/api-keys', { body: { name: 'Export' } }));
  const program = as(key.secret);
  accepted(await program.GET('/v1/me'));
  same(refused(await program.POST('/v1/api-keys', { body: { name: 'More' } })).details.code, 'FORBIDDEN');
  accepted(await hanna.DELETE('/v1/api-keys/{id}', at(key.api_key.id)));
  same(refused(await program.GET('/v1/me')).details.reason, 'session_ended');

  /** The type of the job's last event, on the last page that Link leads to. */
  async function typesOf(client: Client, id: string): Promise<string | undefined> {
    const types: string[] = [];
    let after: string | undefined;
    let pages = 0;
    do {
      const query = { per_page: 3, ...(after !== undefined && { after }) };
      const page = await client.GET('/v1/jobs/{id}/events', { params: { path: { id }, query } });
      types.push(...accepted(page).data.map(({ type }) => type));
      after = nextOf(page.response);
      pages += 1;
    } while (after !== undefined);
    same([pages > 2, new Set(types).size === types.length], [true, true]);
    return types.find((type) => type === 'job.created');
  }
}
