/** Distances between a place and a job's town, in SQL. */
import { sql, type SQL } from 'drizzle-orm';
import type { Placeholders } from '../../../platform/db/statement.js';

export interface PlaceValues {
  box: string | null;
  latitude: number | null;
  longitude: number | null;
  miles: number | null;
}

export const EARTH_RADIUS_MILES = 3958.8;

/** From the place to the town of a row of `job_search`, which is named `s`. */
export const milesAway = (
  $: Placeholders<PlaceValues>,
): SQL => sql`${sql.raw(String(EARTH_RADIUS_MILES))} * 2 * asin(least(1, sqrt(
  power(sin(radians(s.town[1] - ${$('latitude')}::float8) / 2), 2)
  + cos(radians(${$('latitude')}::float8)) * cos(radians(s.town[1]))
    * power(sin(radians(s.town[0] - ${$('longitude')}::float8) / 2), 2))))`;

/**
 * The sort key for distance, in whole tenths of a mile, as shown. On another machine, the last digit of a distance may
 * differ, and a position would be lost. It is negative, so the newest of equally near jobs come first.
 */
export const closenessOf = (miles: SQL): SQL => sql`-round(${miles} * 10)::integer`;

/** The same for a row of `jobs`. */
export const closenessOfJob = ($: Placeholders<PlaceValues>): SQL =>
  sql`(select ${closenessOf(milesAway($))} from job_search s where s.job_id = "jobs"."id")`;

/** In miles, to a tenth. */
export const distanceOfJob = ($: Placeholders<PlaceValues>) =>
  sql<number | null>`abs(${closenessOfJob($)}) / 10.0::float8`;
