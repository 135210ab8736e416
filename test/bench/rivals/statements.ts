/** Statements that servers other than the handwritten ones also send. */
export const VIEWER_STATEMENT = `select u.id as "userId", s.id as "sessionId", u.user_type as role,
  h.id as "homeownerId", c.id as "contractorId"
  from sessions s join users u on u.id = s.user_id left join homeowners h on h.user_id = u.id left join contractors c
    on c.user_id = u.id
  where s.id = $1 and s.user_id = $2 and s.revoked_at is null and s.ends_at > now()`;

export const LIST_STATEMENT = `select j.id, j.title, j.status, j.category, j.urgency, j.budget_min, j.budget_max,
  j.city, j.state, j.bid_count, j.created_at,
    h.id as h_id, h.city as h_city, h.state as h_state, u.first_name, u.last_name, b.id as b_id, b.amount as b_amount,
      b.status as b_status
  from jobs j join homeowners h on h.id = j.homeowner_id join users u on u.id = h.user_id
  left join lateral (select id, amount, status from bids where job_id = j.id and contractor_id = $1
    order by created_at desc, id desc limit 1) b on true
  where j.status = 'open' order by j.created_at desc, j.id desc limit 21`;

export const CHECK_IN_STATEMENT = `with moved as (
    update jobs set status = 'in_progress', version = version + 1, updated_at = clock_timestamp(),
      event_count = event_count + 1, completion_date_at_check_in = desired_completion_date
    where id = $1 and status = 'awarded' and awarded_contractor_id = $2 returning id, status, version, updated_at,
      event_count, homeowner_id),
  logged as (insert into events (id, job_id, sequence, type, actor_id, bidder_id, from_status, to_status, occurred_at,
    data, homeowner_id)
    select $3, id, event_count, 'job.checked_in', $4, null, 'awarded', 'in_progress', clock_timestamp(),
      jsonb_strip_nulls(jsonb_build_object('notes', $5::text)), homeowner_id from moved)
  select id, status, version, updated_at from moved`;

export const PUBLISH_STATEMENT = `with moved as (
    update jobs set status = 'open', version = version + 1, updated_at = clock_timestamp(),
      event_count = event_count + 1, highest_budget_min = budget_min, highest_budget_max = budget_max,
      most_tokens_paid = case urgency when 'standard' then 5 when 'priority' then 15 else 30 end
    where id = $1 and status = 'draft' and homeowner_id = $2 and urgency is not null
      and btrim(title) <> '' and btrim(description) <> '' and btrim(category) <> '' and btrim(address_line1) <> ''
        and btrim(city) <> '' and btrim(state) <> ''
    returning id, status, version, updated_at, event_count, most_tokens_paid, homeowner_id),
  paid as (update token_balances t set balance = t.balance - m.most_tokens_paid from moved m where t.user_id = $3
    returning t.balance - t.held as available),
  charged as (insert into token_transfers (id, from_account, to_account, amount, reason, user_id, job_id)
    select $4, $3, 'fees', m.most_tokens_paid, 'publish', $3, m.id from moved m),
  logged as (insert into events (id, job_id, sequence, type, actor_id, from_status, to_status, occurred_at, data,
    homeowner_id)
    select $5, id, event_count, 'job.published', $3, 'draft', 'open', clock_timestamp(),
      jsonb_build_object('tokensCharged', most_tokens_paid), homeowner_id from moved)
  select m.id, m.status, m.version, m.updated_at, m.most_tokens_paid, p.available from moved m, paid p`;

/**
 * A bid that arrives while this waits for the job's lock isn't among the bids read at the start. The job's own count,
 * read under its lock, reveals this, and the statement then changes nothing. The events' identifiers are one identifier
 * with consecutive endings.
 */
export const AWARD_STATEMENT = `with live as materialized (select id, contractor_id from bids where job_id = $1
  and status in ('pending', 'viewed', 'shortlisted')),
  moved as (
    update jobs j set status = 'awarded', version = version + 1, updated_at = clock_timestamp(),
      awarded_bid_id = chosen.id, awarded_contractor_id = chosen.contractor_id,
      event_count = event_count + 1 + live_bid_count, live_bid_count = 0
    from live chosen
    where j.id = $1 and chosen.id = $2 and j.status = 'open' and j.homeowner_id = $3
      and j.live_bid_count = (select count(*) from live)
    returning j.id, j.status, j.version, j.updated_at, j.event_count, j.homeowner_id),
  settled as (
    update bids b set status = case when b.id = $2 then 'accepted' else 'rejected' end::bid_status, updated_at = now()
      from moved m
    where b.job_id = m.id and b.status in ('pending', 'viewed', 'shortlisted') returning b.id, b.contractor_id,
      b.status),
  released as (update holds h set status = 'released', released_at = now() from settled s
    where h.bid_id = s.id and s.status = 'rejected' and h.status = 'active' returning h.user_id, h.amount),
  freed as (update token_balances t set held = t.held - staked.amount from (select user_id, sum(amount)::int as amount
    from released group by user_id order by user_id) staked
    where t.user_id = staked.user_id),
  happened as (
    select 0 as number, 'job.awarded' as type, null as bidder, 'open'::job_status as from_status,
      'awarded'::job_status as to_status, $2::text as bid from moved
    union all select row_number() over (order by status, id), 'bid.' || status, contractor_id, null, null, id
      from settled),
  logged as (insert into events (id, job_id, sequence, type, actor_id, bidder_id, from_status, to_status, occurred_at,
    data, homeowner_id)
    select left($4, -3) || lpad(number::text, 3, '0'), m.id, m.event_count - (select count(*)
      from settled) + number, type, $5, bidder, from_status, to_status, clock_timestamp(), jsonb_build_object('bidId',
        bid), m.homeowner_id
    from happened, moved m)
  select id, status, version, updated_at from moved`;
