-- Outside a transaction. Corrects the times of jobs that earlier releases moved, from the jobs' events.
DO $$
DECLARE
  behind text := '';
  up_to text;
BEGIN
  LOOP
    SELECT max(batch.id) INTO up_to FROM (SELECT id FROM jobs WHERE id > behind ORDER BY id LIMIT 5000) batch;
    EXIT WHEN up_to IS NULL;
    PERFORM set_config('lock_timeout', '1s', true);
    UPDATE jobs j SET status_changed_at = moved.at FROM (
      SELECT e.job_id, max(e.occurred_at) AS at FROM events e
      WHERE e.job_id > behind AND e.job_id <= up_to AND e.from_status IS DISTINCT FROM e.to_status
      GROUP BY e.job_id
    ) moved
    WHERE j.id = moved.job_id AND moved.at > j.status_changed_at + interval '1 minute';
    COMMIT;
    behind := up_to;
  END LOOP;
END
$$;
