/** Calendar dates, `YYYY-MM-DD`, which no time zone ever shifts. */

const MILLISECONDS_PER_DAY = 86_400_000;

/** True if the calendar has this day. Years run from 0001 to 9999, because PostgreSQL has no year 0. */
export function isRealDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  // JavaScript parses some impossible days as days of the next month.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/**
 * Whole days from one date to another, negative if the second is earlier. Both must be real. A day in UTC has no
 * daylight saving.
 */
export function daysBetween(from: string, to: string): number {
  return (midnightUtc(to) - midnightUtc(from)) / MILLISECONDS_PER_DAY;
}

function midnightUtc(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
