-- Locks notes of ended jobs, the oldest first. Notes of one job are carried out one after
-- the other, each when the one before it is gone.
SELECT r.id, r.on_id, r.done_to, r.ended_at, r.state, r.reason FROM {schema}.release AS r
WHERE r.id > :after_id::bigint
    AND NOT EXISTS (SELECT FROM {schema}.release AS e WHERE e.on_id = r.on_id AND e.id < r.id OFFSET 0)
ORDER BY r.id LIMIT :limit::bigint FOR UPDATE OF r SKIP LOCKED
