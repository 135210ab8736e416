/**
 * Checks every invariant that spans several rows. Each query must return nothing, whatever calls, races, and crashes
 * came before. Uses only the rows, and shares no code with the service.
 */
import type { Sql } from 'postgres';
import { CLOCK_STEPS, LEGAL_STEPS, statesAllowing, statesIn } from '../../story/specified.js';

const listed = (states: readonly string[]) => `(${states.map((state) => `'${state}'`).join(', ')})`;

/** The states in which triggers copy a job's searchable fields to `open_job_search`. */
const SEARCHED_APART = statesAllowing('submitBid');

/** The events of the deadlines themselves. Nobody calls them, so they have no actor. */
const CLOCK_EVENTS = ['job.reminded', 'bid.stake_released', ...Object.keys(CLOCK_STEPS)];

/**
 * The rating and review of each approved job. They may come after the approval, and a later review replaces an earlier
 * one.
 */
const SAID = `
  select coalesce(case when a.data->>'rating' is null and a.data->>'review' is null then l.id end, a.id) as id,
    coalesce(case when a.data->>'rating' is null and a.data->>'review' is null then l.occurred_at end, a.occurred_at)
      as occurred_at, a.job_id, coalesce(case when a.data->>'rating' is null and a.data->>'review' is null
      then l.actor_id end, a.actor_id) as actor_id, coalesce(l.data->>'rating', a.data->>'rating')::int as rating,
    coalesce(l.data->>'review', a.data->>'review') as review
  from events a left join events l on l.job_id = a.job_id and l.type = 'job.reviewed'
  where a.type in ('job.approved', 'job.auto_approved')`;

/** Each invariant, with the query that finds the rows that break it. */
const PROMISES: Readonly<Record<string, string>> = {
  'a balance is the sum of its transfers': `
    select u.id as who, concat('kept ', b.balance, ', summed ', coalesce(t.total, 0)) as how
    from users u left join token_balances b on b.user_id = u.id
    left join (select user_id, sum(case when to_account = user_id then amount else -amount end) as total
      from token_transfers group by user_id) t on t.user_id = u.id
    where coalesce(b.balance, 0) <> coalesce(t.total, 0)`,

  'the bought part of a balance is the sum of its transfers’ bought parts, and at most the balance': `
    select u.id as who, concat('kept ', b.bought, ', summed ', coalesce(t.total, 0), ', balance ', b.balance) as how
    from users u left join token_balances b on b.user_id = u.id
    left join (select user_id, sum(case when to_account = user_id then bought else -bought end) as total
      from token_transfers group by user_id) t on t.user_id = u.id
    where coalesce(b.bought, 0) <> coalesce(t.total, 0) or b.bought < 0 or b.bought > b.balance`,

  'a debt is the sum from lost chargebacks, minus debt payments, and nobody with a debt has tokens to spend': `
    select u.id as who, concat('kept ', b.debt, ', owed ', coalesce(p.total, 0), ', paid ', coalesce(t.total, 0),
      ', balance ', b.balance) as how
    from users u join token_balances b on b.user_id = u.id
    left join (select user_id, sum(debt) as total from purchases group by user_id) p on p.user_id = u.id
    left join (select user_id, sum(amount) as total from token_transfers where reason = 'debt_payment'
      group by user_id) t on t.user_id = u.id
    where b.debt <> coalesce(p.total, 0) - coalesce(t.total, 0) or b.debt < 0
      or (b.debt > 0 and b.balance > b.held)`,

  'a purchase is credited once when it’s paid, and never before': `
    select p.id as who, concat(p.status, ', credits ', coalesce(t.credits, 0), ' of ', t.total) as how
    from purchases p left join (select purchase_id, count(*) as credits, sum(amount) as total,
        min(user_id) as user_id, bool_and(bought = amount) as is_bought
      from token_transfers where reason = 'purchase' group by purchase_id) t on t.purchase_id = p.id
    where (p.status in ('pending', 'failed', 'expired')) <> (t.credits is null)
      or (p.paid_at is null) <> (t.credits is null)
      or (t.credits is not null and (t.credits, t.total, t.user_id, t.is_bought) <> (1, p.tokens, p.user_id, true))`,

  'the refunds and chargebacks of a purchase match its row': `
    select p.id as who, concat(p.status, ', refunded ', p.refunded_tokens, ', refunding ', p.refunding_tokens,
      ', refunds ', coalesce(t.refunds, 0), ', charged back ', coalesce(t.charged_back, 0), ', debt ', p.debt) as how
    from purchases p left join (select purchase_id,
        coalesce(sum(amount) filter (where reason = 'purchase_refund'), 0)
          - coalesce(sum(amount) filter (where reason = 'purchase_refund_undone'), 0) as refunds,
        coalesce(sum(amount) filter (where reason = 'chargeback'), 0) as charged_back
      from token_transfers group by purchase_id) t on t.purchase_id = p.id
    where case when p.status = 'charged_back' then coalesce(t.refunds, 0) + coalesce(t.charged_back, 0) + p.debt
        <> p.tokens else coalesce(t.refunds, 0) <> p.refunded_tokens + p.refunding_tokens
          or coalesce(t.charged_back, 0) + p.debt > 0 end
      or (p.status = 'refunding') and p.refunding_tokens = 0
      or (p.status in ('pending', 'failed', 'expired', 'paid', 'refunded')) and p.refunding_tokens > 0
      or (p.status = 'refunded') and (p.refunded_tokens, p.refunded_amount) <> (p.tokens, p.amount)
      or p.refunded_amount <> (p.amount::bigint * p.refunded_tokens) / p.tokens`,

  'a transfer for a purchase has its purchase, and no other transfer has one': `
    select t.id as who, concat(t.reason, ' ', t.purchase_id) as how
    from token_transfers t left join purchases p on p.id = t.purchase_id
    where (t.reason in ('purchase', 'purchase_refund', 'purchase_refund_undone', 'chargeback'))
        <> (t.purchase_id is not null) or (t.purchase_id is not null and p.id is null) or p.user_id <> t.user_id`,

  'what is held is the sum of the active holds, and covered': `
    select u.id as who, concat('kept ', b.held, ', summed ', coalesce(h.total, 0), ', balance ', b.balance) as how
    from users u left join token_balances b on b.user_id = u.id
    left join (select user_id, sum(amount) as total from holds where status = 'active' group by user_id) h
      on h.user_id = u.id
    where coalesce(b.held, 0) <> coalesce(h.total, 0) or b.held < 0 or b.held > b.balance`,

  'a transfer touches its person and one system account': `
    select id as who, concat(from_account, ' to ', to_account) as how from token_transfers
    where amount <= 0 or (from_account = user_id) = (to_account = user_id) or (from_account in ('issuance',
      'fees')) = (to_account in ('issuance', 'fees'))`,

  'a guaranteed bid has its hold, and no other bid has one': `
    select b.id as who, concat('hold ', b.hold_id, ', row ', h.id) as how
    from bids b left join holds h on h.bid_id = b.id
    where b.guaranteed_view <> (b.hold_id is not null) or b.hold_id is distinct from h.id`,

  'a hold is of its bid, its job and its bidder': `
    select h.id as who, concat(h.bid_id, ' ', h.job_id, ' ', h.user_id) as how
    from holds h left join bids b on b.id = h.bid_id left join contractors c on c.id = b.contractor_id
    where b.id is null or b.job_id <> h.job_id or c.user_id <> h.user_id`,

  'a hold is active exactly while its bid is live or accepted on a job that goes on, and nothing released it': `
    select h.id as who, concat(h.status, ', bid ', b.status, ', job ', j.status) as how
    from holds h join bids b on b.id = h.bid_id join jobs j on j.id = h.job_id
    where (h.status = 'active') <> (j.status not in ${listed(statesIn('end'))} and b.status in ('pending', 'viewed',
      'shortlisted', 'accepted') and not exists (select 1 from events e where e.job_id = h.job_id
        and e.type in ('bid.restored', 'bid.stake_released') and e.data->>'bidId' = h.bid_id))`,

  'the clock releases a stake once, of a bid that the owner has not looked at, after a reminder': `
    select e.job_id as who, concat(e.sequence, ' ', e.data->>'bidId') as how from events e
    where e.type = 'bid.stake_released' and (
      exists (select 1 from events b where b.job_id = e.job_id and b.data->>'bidId' = e.data->>'bidId'
        and b.sequence < e.sequence and b.type like 'bid.%' and b.type not in ('bid.submitted', 'bid.revised'))
      or not exists (select 1 from events r where r.job_id = e.job_id and r.data->>'bidId' = e.data->>'bidId'
        and r.sequence < e.sequence and r.type = 'job.reminded'))`,

  'a job has at most one accepted bid': `
    select job_id as who, concat(count(*), ' accepted') as how from bids where status = 'accepted'
      group by job_id having count(*) > 1`,

  'a contractor has at most one bid on a job but for withdrawn ones': `
    select job_id as who, concat(contractor_id, ' ', count(*)) as how from bids where status <> 'withdrawn'
      group by job_id, contractor_id having count(*) > 1`,

  'live bids are on jobs that take bids': `
    select b.id as who, concat(b.status, ' on ', coalesce(j.status::text, 'no job')) as how from bids b left
      join jobs j on j.id = b.job_id
    where j.id is null
      or (b.status in ('pending', 'viewed', 'shortlisted') and j.status not in ${listed(statesIn('bidding'))})`,

  'a bid knows when its job was made': `
    select b.id as who, concat(b.job_created_at, ', job ', j.created_at) as how from bids b
      join jobs j on j.id = b.job_id where b.job_created_at <> j.created_at`,

  'the awarded bid is the accepted one': `
    select j.id as who, concat(j.status, ', awarded ', j.awarded_bid_id, ' to ', j.awarded_contractor_id,
      ', accepted ', b.id) as how
    from jobs j left join bids b on b.job_id = j.id and b.status = 'accepted'
    where j.awarded_bid_id is distinct from b.id or j.awarded_contractor_id is distinct from b.contractor_id
      or (j.awarded_bid_id is null and j.status in ${listed(statesIn('award', 'work'))})
      or (j.awarded_bid_id is not null and j.status in ${listed(statesIn('unpublished', 'bidding'))})`,

  'a job counts its bids rightly': `
    select j.id as who, concat('live ', j.live_bid_count, '/', n.live, ', counted ', j.bid_count, '/', n.counted,
      ', ever ', j.bids_ever, '/', n.ever) as how
    from jobs j left join (
      select job_id, count(*) filter (where status in ('pending', 'viewed', 'shortlisted')) as live,
        count(*) filter (where status <> 'withdrawn') as counted, count(*) as ever
      from bids group by job_id) n on n.job_id = j.id
    where (j.live_bid_count, j.bid_count, j.bids_ever) is distinct from (coalesce(n.live, 0), coalesce(n.counted, 0),
      coalesce(n.ever, 0))`,

  'events are numbered without gaps, as many as the job counts': `
    select coalesce(e.job_id, j.id) as who, concat('from ', e.first, ' to ', e.last, ', rows ', e.rows,
      ', job counts ', j.event_count) as how
    from (select job_id, min(sequence) as first, max(sequence) as last, count(*) as rows,
      bool_or(type = 'job.deleted') as deleted from events group by job_id) e
    full join jobs j on j.id = e.job_id
    where e.job_id is null or e.first <> 1 or e.last <> e.rows or (j.id is null) <> e.deleted
      or j.event_count <> e.rows`,

  'positions follow the order of each job, and the first so many events of it have one': `
    select job_id as who, concat(sequence, ' at ', position, ' behind ', before) as how
    from (select *, lag(position) over (partition by job_id order by sequence) as before from events) e
    where position <= before or (position is not null and before is null and sequence > 1)`,

  'positions have no gaps and no duplicates, and the events of jobs and accounts share them': `
    select max(position)::text as who, concat(count(*), ' events') as how
    from (select position from events union all select position from account_events) e where position is not null
    having count(*) > 0 and (count(*) <> count(distinct position) or count(*) <> max(position))`,

  'an event knows whose job it is': `
    select e.id as who, concat(e.homeowner_id, ', job ', j.homeowner_id) as how from events e
    left join jobs j on j.id = e.job_id left join homeowners h on h.user_id = e.actor_id
      where e.homeowner_id <> coalesce(j.homeowner_id, h.id)`,

  'events follow each other in time': `
    select job_id as who, concat(sequence, ' ', type) as how
    from (select *, lag(occurred_at) over (partition by job_id order by sequence) as before from events) e
      where occurred_at < before`,

  'every step of a job is a legal one': `
    select job_id as who, concat(sequence, ' ', type, ' from ', from_status, ' to ', to_status) as how from events e
    where type like 'job.%' and not exists (select 1 from legal l where l.type = e.type
      and l.from_status is not distinct from e.from_status::text and l.to_status is not distinct from e.to_status::text)
      or type not like 'job.%' and (type not in ('bid.submitted', 'bid.viewed', 'bid.shortlisted', 'bid.accepted',
        'bid.rejected', 'bid.withdrawn', 'bid.revised', 'bid.restored', 'bid.stake_released') or from_status is not null
        or to_status is not null or bidder_id is null)`,

  'each step of a job begins where the last one ended': `
    select job_id as who, concat(sequence, ' ', type, ' from ', from_status, ' after ', before) as how
    from (select *, lag(to_status) over (partition by job_id order by sequence) as before from events
      where type like 'job.%') e
    where from_status is distinct from before`,

  'a job is where its last step led': `
    select j.id as who, concat(j.status, ', last ', e.to_status) as how
    from jobs j left join (select distinct on (job_id) job_id, to_status from events where type like 'job.%'
      order by job_id, sequence desc) e on e.job_id = j.id
    where e.to_status is distinct from j.status`,

  'a job came to its state with the step that led there': `
    select j.id as who, concat(j.status_changed_at, ', last step ', e.moved_at) as how
    from jobs j left join (select job_id, max(occurred_at) as moved_at from events
      where from_status is distinct from to_status group by job_id) e on e.job_id = j.id
    where j.status_changed_at < j.created_at
      or j.status_changed_at not between e.moved_at - interval '1 minute' and e.moved_at + interval '1 minute'`,

  'a job ends once': `
    select job_id as who, concat(count(*), ' endings') as how from events
    where type like 'job.%' and from_status is distinct from to_status
      and (to_status is null or to_status in ${listed(statesIn('end'))})
      group by job_id having count(*) > 1`,

  'a bid is where its last event left it': `
    select b.id as who, concat(b.status, ', last ', e.type) as how
    from bids b left join (
      select distinct on (job_id, data->>'bidId') job_id, data->>'bidId' as bid_id, type, case type
        when 'bid.submitted' then 'pending' when 'bid.restored' then data->>'status' else substr(type, 5) end as status
      from events where type like 'bid.%' and type not in ('bid.revised', 'bid.stake_released')
      order by job_id, data->>'bidId', sequence desc) e
      on e.job_id = b.job_id and e.bid_id = b.id
    where e.status is distinct from b.status::text`,

  'a bid was restored to what it was before the award, which someone else lost': `
    select e.job_id as who, concat(e.sequence, ' to ', e.data->>'status', ', was ', seen.word) as how
    from events e left join lateral (select substr(s.type, 5) as word from events s where s.job_id = e.job_id
      and s.sequence < e.sequence and s.data->>'bidId' = e.data->>'bidId' and s.type in ('bid.viewed',
        'bid.shortlisted') order by s.sequence desc limit 1) seen on true
    where e.type = 'bid.restored' and (e.data->>'status' is distinct from coalesce(seen.word, 'pending')
      or not exists (select 1 from events a where a.job_id = e.job_id and a.sequence < e.sequence
        and a.type in ('job.award_declined', 'job.reopened') and a.data->>'contractorId' <> e.bidder_id))`,

  'an earlier offer is kept for each revision of a bid, and there are at most ten': `
    select b.id as who, concat('version ', b.version, ', kept ', r.kept, ' from ', r.first, ' to ', r.last, ', events ',
      e.revisions) as how
    from bids b
    left join (select bid_id, count(*) as kept, min(version) as first, max(version) as last from bid_revisions
      group by bid_id) r on r.bid_id = b.id
    left join (select data->>'bidId' as bid_id, count(*) as revisions from events where type = 'bid.revised'
      group by data->>'bidId') e on e.bid_id = b.id
    where b.version > 11 or b.version - 1 <> coalesce(r.kept, 0) or b.version - 1 <> coalesce(e.revisions, 0)
      or r.first <> 1 or r.last <> b.version - 1`,

  'an offer is no newer than the last public edit of its job': `
    select j.id as who, concat('counts ', j.public_edit_count, ', events ', n.edits, ', offer ', b.newest) as how
    from jobs j left join (select job_id, max(job_public_edit_count) as newest from bids group by job_id) b
      on b.job_id = j.id
    left join (select job_id, count(*) as edits from events where type = 'job.updated' and exists (select 1
      from jsonb_array_elements_text(data->'fields') field where field not in ('addressLine1', 'addressLine2',
        'zipCode')) group by job_id) n on n.job_id = j.id
    where j.public_edit_count > coalesce(n.edits, 0) or b.newest > j.public_edit_count`,

  'a job counts how often it was reopened and sent back for changes': `
    select j.id as who, concat('reopened ', j.reopening_count, '/', e.reopenings, ', changes ', j.change_request_count,
      '/', e.changes) as how
    from jobs j left join (select job_id, count(*) filter (where type = 'job.reopened') as reopenings,
      count(*) filter (where type = 'job.changes_requested') as changes from events group by job_id) e
      on e.job_id = j.id
    where j.reopening_count > 2 or j.change_request_count > 3 or j.reopening_count <> coalesce(e.reopenings, 0)
      or j.change_request_count <> coalesce(e.changes, 0)`,

  'work in progress is disputed only after requested changes, and cancelled only without them': `
    select e.job_id as who, concat(e.sequence, ' ', e.type) as how from events e
    where e.from_status = 'in_progress' and e.type in ('job.disputed', 'job.cancelled')
      and (e.type = 'job.disputed') <> exists (select 1 from events c where c.job_id = e.job_id
        and c.type = 'job.changes_requested' and c.sequence < e.sequence)`,

  'an event has no actor exactly if the clock caused it': `
    select e.job_id as who, concat(e.sequence, ' ', e.type, ' by ', e.actor_id) as how from events e
    where (e.actor_id is null) <> (e.type in ${listed(CLOCK_EVENTS)} or e.type = 'bid.rejected'
      and exists (select 1 from events x where x.job_id = e.job_id and x.type = 'job.expired'
        and x.sequence < e.sequence))`,

  'the clock acts only after it has reminded someone who can act, since the job came to its state': `
    select e.job_id as who, concat(e.sequence, ' ', e.type) as how from events e
    where e.type in ${listed(Object.keys(CLOCK_STEPS))} and not exists (select 1 from events r
      where r.job_id = e.job_id and r.sequence < e.sequence and r.type = 'job.reminded' and r.data->>'bidId' is null
        and r.data->>'to' <> 'admin' and not exists (select 1 from events m where m.job_id = e.job_id
          and m.type like 'job.%' and m.from_status is distinct from m.to_status
          and m.sequence between r.sequence and e.sequence - 1))`,

  'a reminder says for whom it is, and no other contractor can read it': `
    select e.job_id as who, concat(e.sequence, ' to ', e.data->>'to', ', of ', e.bidder_id) as how from events e
    where e.type = 'job.reminded' and (coalesce(e.data->>'to', '') not in ('owner', 'awardee', 'parties', 'admin')
      or (e.data->>'to' = 'awardee') <> (e.bidder_id is not null)
      or e.data->>'bidId' is not null and (e.data->>'to' not in ('owner', 'admin') or e.from_status <> 'open'))`,

  'a deadline is extended at most once per job and state': `
    select job_id as who, concat(from_status, ' ', count(*), ' times') as how from events
    where type = 'job.deadline_extended' group by job_id, from_status having count(*) > 1`,

  'a version counts the changes of its job': `
    select j.id as who, concat('version ', j.version, ', changes ', e.changes) as how
    from jobs j left join (select job_id, count(*) as changes from events where type like 'job.%'
      and type not in ('job.resolution_proposed', 'job.reminded', 'job.deadline_extended') group by job_id) e
      on e.job_id = j.id
    where j.version is distinct from e.changes`,

  'a job was charged once for its publication, and what was paid is what it remembers': `
    select j.id as who, concat('paid ', t.paid, ', remembered ', j.most_tokens_paid, ', charges ', t.charges,
      ', publications ', e.publications) as how
    from jobs j
    left join (select job_id, sum(amount) as paid, count(*) filter (where reason = 'publish') as charges
      from token_transfers where reason in ('publish', 'urgency_raise') group by job_id) t on t.job_id = j.id
    left join (select job_id, count(*) as publications from events where type = 'job.published' group by job_id) e
      on e.job_id = j.id
    where coalesce(t.paid, 0) <> j.most_tokens_paid or coalesce(t.charges, 0) <> coalesce(e.publications, 0)`,

  'a refund returns what was paid, once, to the owner of a job that ended before any bid': `
    select coalesce(t.job_id, j.id) as who,
      concat(t.refunds, ' refunds of ', t.total, ' of ', j.most_tokens_paid) as how
    from (select job_id, count(*) as refunds, sum(amount) as total, min(user_id) as user_id from token_transfers
      where reason = 'publish_refund' group by job_id) t
    full join (select j.id, j.most_tokens_paid, h.user_id from jobs j join homeowners h on h.id = j.homeowner_id
      where j.status = 'cancelled' and j.bids_ever = 0 and j.awarded_bid_id is null and j.most_tokens_paid > 0) j
      on j.id = t.job_id
    where (t.refunds, t.total, t.user_id) is distinct from (1, j.most_tokens_paid, j.user_id)`,

  'a contractor was credited for every job that was approved or completed with credit, and for no other': `
    select c.id as who, concat('completed ', c.completed_jobs, '/', n.credited, ', ratings ', c.rating_count, '/',
      n.ratings, ', sum ', c.rating_sum, '/', n.total) as how
    from contractors c left join (
      select j.awarded_contractor_id as id, count(*) as credited, count(e.rating) as ratings, sum(e.rating) as total
      from jobs j left join (${SAID}) e on e.job_id = j.id
      where e.job_id is not null or exists (select 1 from events d where d.job_id = j.id and d.type = 'job.completed'
        and d.data->>'creditContractor' = 'true') group by j.awarded_contractor_id) n on n.id = c.id
    where (c.completed_jobs, c.rating_count, c.rating_sum) is distinct from (coalesce(n.credited, 0),
      coalesce(n.ratings, 0), coalesce(n.total, 0))`,

  'a contractor has the name and the age of their account': `
    select c.id as who, concat(c.person_name, ' ', c.created_at, ', account ', u.first_name, ' ', u.last_name, ' ',
      u.created_at) as how
    from contractors c join users u on u.id = c.user_id
    where (c.person_name, c.created_at) is distinct from (u.first_name || ' ' || u.last_name, u.created_at)`,

  'a review matches the approval or the later rating, and its contractor did the job': `
    select coalesce(r.id, e.id) as who, concat(r.contractor_id, ' ', r.rating, ', event ', e.contractor_id, ' ',
      e.rating) as how
    from reviews r full join (
      select 'rev_' || substr(e.id, 5) as id, e.job_id, e.actor_id, e.occurred_at,
        j.awarded_contractor_id as contractor_id, e.rating, e.review
      from (${SAID}) e join jobs j on j.id = e.job_id where e.rating is not null or e.review is not null) e
        on e.id = r.id
    where (r.id, r.job_id, r.contractor_id, r.author_id, r.rating, r.review, r.created_at)
      is distinct from (e.id, e.job_id, e.contractor_id, e.actor_id, e.rating, e.review, e.occurred_at)`,

  'a job has the rating and review from its approval, or those given later': `
    select j.id as who, concat(j.rating, ' ', j.review, ', event ', e.rating, ' ', e.review) as how
    from jobs j left join (${SAID}) e on e.job_id = j.id
    where (j.rating, j.review) is distinct from (e.rating, e.review)`,

  'a later rating follows an approval without one, and only once': `
    select l.job_id as who, concat(count(*), ' ratings after ', min(a.data->>'rating')) as how
    from events l left join events a on a.job_id = l.job_id
      and a.type in ('job.approved', 'job.auto_approved')
    where l.type = 'job.reviewed' group by l.job_id
    having count(*) > 1 or count(a.id) = 0 or count(a.data->>'rating') > 0`,

  'a published job is whole': `
    select id as who, status::text as how from jobs
    where status not in ('draft', 'completed') and (category is null or urgency is null or address_line1 is null
      or city is null or state is null)`,

  'searches look through what the job says': `
    select j.id as who, coalesce(s.words, 'nothing') as how from jobs j full join job_search s on s.job_id = j.id
    where j.id is null or s.words is distinct from lower(j.title || chr(1) || j.description)
      or s.created_at is distinct from j.created_at`,

  'searches for open jobs look through the same of these': `
    select coalesce(s.job_id, o.job_id) as who, coalesce(o.words, 'nothing') as how
    from (select s.* from job_search s join jobs j on j.id = s.job_id where j.status in ${listed(SEARCHED_APART)}) s
      full join open_job_search o on o.job_id = s.job_id
    where (o.created_at, o.words, o.town::text) is distinct from (s.created_at, s.words, s.town::text)`,
};

export const PROMISE_NAMES = Object.keys(PROMISES);

const quoted = (word: string | null) => (word === null ? 'null::text' : `'${word.replaceAll("'", "''")}'`);

/** Checks all invariants in one statement, and so at one moment. */
const CHECK = `with legal(type, from_status,
  to_status) as (values ${LEGAL_STEPS.map((row) => `(${row.map(quoted).join(', ')})`).join(', ')})
  ${Object.entries(PROMISES)
    .map(([name, query]) => `(select ${quoted(name)} as promise, x.who, x.how from (${query}) x limit 20)`)
    .join('\nunion all\n')}`;

/** Returns every broken invariant as `invariant: who (how)`. */
export async function checkDatabase(sql: Pick<Sql, 'unsafe'>): Promise<string[]> {
  const broken = await sql.unsafe<{ promise: string; who: string; how: string }[]>(CHECK);
  return broken.map(({ promise, who, how }) => `${promise}: ${who} (${how})`);
}
