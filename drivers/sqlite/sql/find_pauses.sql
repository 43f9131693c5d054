-- statement findPauses, returns queue kinds
-- Whether a queue is paused, and the kinds that are paused, as a JSON array.
SELECT EXISTS (SELECT 1 FROM hourbell_pause WHERE subject = 1 AND {in_queue(:queue, name)} AND (until IS NULL OR until > :now)) AS queue,
       (SELECT json_group_array(name) FROM hourbell_pause WHERE subject = 2 AND (until IS NULL OR until > :now)) AS kinds
