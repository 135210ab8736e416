/** Distances between places, in JavaScript and in SQL. */
import { sql, type SQL } from 'drizzle-orm';
import type { Placeholders } from '../../../platform/db/statement.js';

export interface PlaceValues {
  box: string | null;
  latitude: number | null;
  longitude: number | null;
  miles: number | null;
}

export const EARTH_RADIUS_MILES = 3958.8;

export const milesBetween = (
  town: SQL,
  { latitude, longitude }: Readonly<Record<'latitude' | 'longitude', SQL>>,
): SQL => sql`${sql.raw(String(EARTH_RADIUS_MILES))} * 2 * asin(least(1, sqrt(
  power(sin(radians((${town})[1] - ${latitude}) / 2), 2)
  + cos(radians(${latitude})) * cos(radians((${town})[1]))
    * power(sin(radians((${town})[0] - ${longitude}) / 2), 2))))`;

/** The distance in miles from the place to the town of a row `s` of `job_search`. */
export const milesAway = ($: Placeholders<PlaceValues>): SQL =>
  milesBetween(sql`s.town`, { latitude: sql`${$('latitude')}::float8`, longitude: sql`${$('longitude')}::float8` });

/**
 * The sort key, in tenths of a mile as shown to users. The exact distance's last digit could differ on another machine,
 * and a cursor would then point nowhere. The key is negative, so descending order puts the nearest jobs first, and the
 * newest first among jobs at the same distance.
 */
export const closenessOf = (miles: SQL): SQL => sql`-round(${miles} * 10)::integer`;

export const closenessOfJob = ($: Placeholders<PlaceValues>): SQL =>
  sql`(select ${closenessOf(milesAway($))} from job_search s where s.job_id = "jobs"."id")`;

/** A job's distance in miles, rounded to a tenth. */
export const distanceOfJob = ($: Placeholders<PlaceValues>) =>
  sql<number | null>`abs(${closenessOfJob($)}) / 10.0::float8`;
