-- Each event is updated once, when it gets its position, and that leaves a dead row and dead entries in all indexes. With
-- the defaults a table of ten million events is vacuumed after two million of them, and every look for events without
-- a position passes over theirs. Planner statistics follow the newest positions for the same reason.
--
-- It takes SHARE UPDATE EXCLUSIVE, which holds up neither reads nor writes; an autovacuum of the table gives way.
ALTER TABLE "events" SET (
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.02
);
