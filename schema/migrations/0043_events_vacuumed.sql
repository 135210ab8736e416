-- Each event is updated once, when it gets its position, which leaves a dead row and dead entries in all indexes. With the
-- defaults, a table of ten million events is vacuumed only after two million updates, and every search for events without
-- a position has to skip all of those. Analyze runs more often so that planner statistics include the newest positions.
--
-- This takes a SHARE UPDATE EXCLUSIVE lock, which blocks neither reads nor writes. A running autovacuum gives way.
ALTER TABLE "events" SET (
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.02
);
