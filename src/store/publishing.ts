/**
 * Publishing as one statement: a draft that has all it needs moves, its price is taken, and the ledger and the events
 * say so.
 */
import { and, eq, sql } from 'drizzle-orm';
import type { JobId, UserId } from '../rules/ids.js';
import { BLANKS, PUBLISH_COST, REQUIRED_TO_PUBLISH } from '../rules/publishing.js';
import { asAsked } from './beside.js';
import { logging } from './events.js';
import { jobColumns, jobFields, seenBy } from './jobs.js';
import { availableTo, transferring, type PaymentValues } from './ledger.js';
import { ifMoved, moving, type MoveValues } from './moves.js';
import { statement, type Values } from './statement.js';
import { jobs } from './tables/jobs.js';
import type { ViewerIds } from './visibility.js';

const cost = sql`case ${jobs.urgency} ${sql.join(
  Object.entries(PUBLISH_COST).map(([urgency, tokens]) => sql`when ${urgency} then ${tokens}::int`),
  sql` `,
)} end`;
const isWhole = and(...REQUIRED_TO_PUBLISH.map((field) => sql`btrim(${jobs[field]}::text, ${BLANKS}) <> ''`));

/** The check on the balance is the last judge: somebody may spend it in the same moment. */
export const publishDraft = asAsked((beside) =>
  statement((db, $: Values<MoveValues & PaymentValues>, stands) => {
    const { set, when } = moving('publish', $, { mostTokensPaid: cost });
    const isPayable = sql`${availableTo($)} >= ${cost}`;
    const moved = db.$with('moved').as(
      db
        .update(jobs)
        .set(set)
        .where(and(when, isWhole, isPayable, stands))
        .returning(jobFields(beside, 'eventCount', 'mostTokensPaid')),
    );
    const paid = sql`(select most_tokens_paid from moved)`;
    const { changed, insertion } = transferring(db, $, { amount: paid, change: sql`- ${paid}`, given: ifMoved });
    const logged = logging(db, 'moved', $.events, sql`jsonb_build_object('tokensCharged', j.most_tokens_paid)`);
    return db
      .with(moved, changed, db.$with('transfer').as(insertion), logged)
      .select()
      .from(moved)
      .innerJoin(changed, sql`true`);
  }),
);

/** What publishing hangs on. */
export const selectToPublish = statement((db, $: Values<ViewerIds & { id: JobId; userId: UserId }>) =>
  db
    .select({ job: jobColumns, ...seenBy('homeowner', $), available: availableTo($) })
    .from(jobs)
    .where(eq(jobs.id, $.id)),
);
