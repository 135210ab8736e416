/**
 * Jobs that say a word or are near a place. What is sought has an index of its own, which knows nothing of the list's
 * order: whatever is common is found soonest by walking through the list, and whatever is rare by its index. The newest
 * jobs tell which it is.
 */
import { and, sql, type SQL } from 'drizzle-orm';
import type { Reach } from './page.js';
import type { Values } from './statement.js';
import { jobs } from './tables/jobs.js';

export interface SoughtValues {
  pattern: string | null;
  box: string | null;
  latitude: number | null;
  longitude: number | null;
  miles: number | null;
}

type Sought = Values<SoughtValues>;

/**
 * What stands between a job's title and its description where both are searched as one. Whoever seeks this very sign is
 * told by the job itself.
 */
export const SEAM = '\u0001';

/**
 * Each stands here twice: as the searchable row is told, and as the job is. The former hides from the planner what is
 * sought, since it guesses badly how much of that there is.
 */
export const SOUGHT = {
  search: {
    found: ($: Sought) => sql`s.words like (select lower(${$.pattern}::text))`,
    fits: ($: Sought) =>
      sql`case when ${jobs.title} ilike ${$.pattern} then true else ${jobs.description} ilike ${$.pattern} end`,
  },
  near: {
    found: ($: Sought) => isNear($),
    fits: ($: Sought) => sql`(select ${isNear($)} from job_search s where s.job_id = ${jobs.id})`,
  },
};

export type SoughtName = keyof typeof SOUGHT;
export const SOUGHT_NAMES: readonly SoughtName[] = ['search', 'near'];

function isNear($: Sought): SQL {
  return sql`s.town <@ ${$.box}::box and ${MILES_APART($)} <= ${$.miles}::float8`;
}

const MILES_APART = ($: Sought) =>
  sql`3958.8 * 2 * asin(least(1, sqrt(power(sin(radians(s.town[1] - ${$.latitude}::float8) / 2), 2)
    + cos(radians(${$.latitude}::float8)) * cos(radians(s.town[1])) * power(sin(radians(s.town[0] - ${$.longitude}::float8) / 2), 2))))`;

export const NEWEST_FIRST = sql`"jobs"."created_at" desc, "jobs"."id" desc`;

/** So many of the newest jobs are looked at one by one, to learn how common it is what is sought. */
const SAMPLE = 2_000;
/**
 * Of those, so many fit where the list is walked through at once, and so many where it may be; fewer than the last are
 * few in the whole market too.
 */
const FITTING_WHEN_COMMON = SAMPLE / 10;
const FITTING_WHEN_WALKED = SAMPLE / 100;
const FITTING_AT_LEAST = 3;
/** To look through a list of no more jobs takes less than to learn anything first. */
const SHORT_LIST = 50;
/**
 * In between, the index is asked for the newest days alone: as many as should hold what is wanted so many times over,
 * since not all of it is seen.
 */
const TIMES_WANTED = { all: 2, much: 4, little: 12 };
/** But for no more days than hold so many times the sample. */
const SAMPLES_MAX = 12;

const DAY = sql`(s.created_at at time zone 'UTC')::date`;

export interface Seeking {
  readonly $: Sought;
  readonly names: readonly SoughtName[];
  /** The list that may be walked through in its order, but for what is sought. */
  readonly market: readonly SQL[];
  /** What else a job must be that is found by its words or its place; nothing, if every job is seen. */
  readonly seen: readonly SQL[];
  /** How much of the whole market these are. */
  readonly sees: keyof typeof TIMES_WANTED;
  /** What the market lacks, to be read where it is walked through. */
  readonly beside: SQL | undefined;
  /** One person's own: never so long that it could not be walked through. */
  readonly isOwn: boolean;
}

/**
 * The identifiers of the first jobs that are sought, or of all of them in any order, if they are to be counted. One of
 * these ways is chosen, and the others are not gone: `walk` through the list; ask the `index` for all that is found;
 * for what is found in the `recent` days, if that fills the page; for what is found in the `place`, if hardly any job
 * is near.
 */
export function soughtJobs(
  { $, names, market, seen, sees, beside, isOwn }: Seeking,
  within: SQL | undefined,
  { atMost, behind, isCount }: Reach & { isCount?: boolean },
): SQL {
  const all = and(...market, within) ?? sql`true`;
  const fits = sql.join(
    names.map((name) => SOUGHT[name].fits($)),
    sql` and `,
  );
  const found = sql.join(
    names.toReversed().map((name) => SOUGHT[name].found($)),
    sql` and `,
  );
  const position = behind([sql`s.created_at`, sql`s.job_id`]);
  const number = (value: number) => sql.raw(String(value));
  const seeksBoth = names.length > 1;
  const isWay = (name: string) => sql`(select way = ${sql.raw(`'${name}'`)} from chosen)`;

  const listed = sql`from jobs where ${all} order by ${NEWEST_FIRST}`;
  const longerThan = (count: number) => sql`exists (select ${listed} offset ${number(count)} limit 1)`;
  const judged = (some: SQL) =>
    seen.length > 0
      ? sql`${some} cross join lateral (select from jobs where ${and(sql`"jobs"."id" = s.job_id`, ...seen)} offset 0) seen`
      : some;
  // Found, then put in order, then judged one by one, until there are enough.
  const inOrder = sql`order by s.created_at desc, s.job_id desc`;
  const indexed = (table: SQL, days?: SQL) =>
    sql`select s.job_id as id, s.created_at from ${judged(sql`(select s.job_id, s.created_at from ${table} s where ${and(found, days, position)} ${isCount ? sql`` : inOrder} offset 0) s`)}`;
  const first = isCount ? sql`limit ${number(atMost)}` : sql`${inOrder} limit ${number(atMost)}`;

  const sample = sql`sample as materialized (select count(*) filter (where ${found}) as fitting,${seeksBoth ? sql` count(*) filter (where ${SOUGHT.near.found($)}) as nearby,` : sql``} extract(epoch from max(s.created_at)) as newest, extract(epoch from min(s.created_at)) as oldest
      from (select * from job_search s where ${position ?? sql`true`} ${inOrder} limit ${number(SAMPLE)}) s)`;
  const recentDays = sql`${DAY} >= (select (to_timestamp(greatest(0, newest - (newest - oldest) * least(${number(TIMES_WANTED[sees] * atMost)}::float8 / greatest(fitting, 1), ${number(SAMPLES_MAX)}))) at time zone 'UTC')::date from sample)`;
  // From a position on, the newest days would all be in between.
  const searchesDays = !isCount && !isOwn && names.includes('search') && !position;
  const recent = searchesDays ? sql`recent as materialized (${indexed(sql`job_search`, recentDays)} ${first}),` : sql``;
  const fitting = (least: number) => sql`(select fitting >= ${number(least)} from sample)`;
  const recentIsEnough = sql`when not ${fitting(FITTING_WHEN_COMMON)} and ${fitting(FITTING_AT_LEAST)} and (select count(*) from recent) >= ${number(atMost)} then 'recent'`;
  const isCommon = isOwn
    ? fitting(FITTING_WHEN_WALKED)
    : isCount
      ? sql`${fitting(FITTING_WHEN_COMMON)} or ${fitting(FITTING_WHEN_WALKED)} and not ${longerThan(SAMPLE)}`
      : sql`${fitting(FITTING_WHEN_WALKED)} and (not ${longerThan(SAMPLE)}
        or (select count(*) from (select from (select * ${listed} limit ${number(SAMPLE)}) jobs where ${fits} limit ${number(atMost)}) fitting) >= ${number(atMost)})`;
  // What a page needs is among the first, unless nobody looked; what is counted may lie beyond them. One's own are told
  // by their index, and then looked at.
  const walked = isOwn
    ? sql`select own.id, own.created_at from (select "jobs"."id", "jobs"."created_at" ${listed} offset 0) own
        cross join lateral (select from jobs where "jobs"."id" = own.id and ${fits} offset 0) fitting order by own.created_at desc, own.id desc limit ${number(atMost)}`
    : sql`select "jobs"."id", "jobs"."created_at" from (select * ${listed} ${isCount ? sql`offset 0` : sql`limit ${number(SAMPLE)}`}) jobs
        where ${fits} ${isCount ? sql`` : sql`order by ${NEWEST_FIRST}`} limit ${number(atMost)}`;
  const onWay = (name: string, jobsFound: SQL) =>
    sql`(select id, created_at from (${jobsFound}) jobs_found where ${isWay(name)})`;

  const ways = [
    onWay('walk', walked),
    onWay('index', sql`${indexed(sql`job_search`)} ${first}`),
    ...(seeksBoth
      ? [
          onWay(
            'place',
            sql`${indexed(sql`(select * from job_search s where ${SOUGHT.near.found($)} offset 0)`)} ${first}`,
          ),
        ]
      : []),
    ...(searchesDays ? [onWay('recent', sql`select id, created_at from recent`)] : []),
    ...(beside ? [onWay('walk', beside)] : []),
  ];
  return sql`with ${sample}, ${recent} chosen as materialized (select case when not ${longerThan(SHORT_LIST)} then 'walk'${seeksBoth ? sql` when (select nearby < ${number(FITTING_AT_LEAST)} from sample) then 'place'` : sql``} ${searchesDays ? recentIsEnough : sql``}
      when ${isCommon} then 'walk' else 'index' end as way) ${sql.join(ways, sql` union all `)}`;
}
