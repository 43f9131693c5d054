SELECT j.id, j.state, j.run_at, j.slot, coalesce(j.schedule_id, 0), j.origin
FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value
UNION ALL
SELECT h.id, h.state, h.run_at, h.slot, coalesce(h.schedule_id, 0), h.origin
FROM json_each(:ids) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value
