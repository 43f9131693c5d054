-- statement findWork, returns alive pauses handled limited permits now due first_at suspects next_due
-- What a claim looks at before it locks anything, all at one instant: what hold_node returns, the instant, the priorities that have
-- due jobs which the claim may take, as bits, since when the first of these jobs is due, whether there may be a suspect, and, if no job
-- is due, when the next job is.
SELECT n.alive, n.pauses, n.handled, n.limited, n.permits, w.now, w.due, w.first_at, w.suspects,
  CASE WHEN w.due = 0 THEN ({statement(find_next_due)}) END AS next_due
FROM ({statement(hold_node)}) AS n,
  (SELECT :now AS now, d.due, d.first_at, ({statement(find_suspect)}) AS suspects
    FROM (SELECT BIT_OR(1 << p.priority) AS due, MIN(p.first_at) AS first_at FROM ({statement(find_due_priorities)}) AS p) AS d) AS w
